"""Let each allocation of a dump and of a load fail, one after the other.

Reports how many allocations were made to fail, every outcome that was neither MemoryError nor the
right answer, and how many blocks of memory such a round leaves behind.
"""

from __future__ import annotations

import _testcapi
import datetime as dt
import decimal
import enum
import gc
import sys
import uuid
from collections.abc import Callable
from typing import Any

from tests.hostile.programs import arguments, begin, library, report

# More than any of these jobs allocates.
MOST = 20_000

(LIBRARY,) = arguments()
m = library(LIBRARY)
fields = m.fields


class Colour(enum.Enum):
    RED = 1


class Child(m.Schema):
    name = fields.String(validate=m.validate.Length(max=20))
    tags = fields.List(fields.String())


class Everything(m.Schema):
    number = fields.Integer(data_key="no")
    ratio = fields.Float()
    price = fields.Decimal(places=2)
    when = fields.DateTime()
    key = fields.UUID()
    colour = fields.Enum(Colour)
    child = fields.Nested(Child)
    children = fields.List(fields.Nested(Child))
    table = fields.Dict(keys=fields.String(), values=fields.Integer())
    shout = fields.Method("make_shout", dump_default="")

    def make_shout(self, obj: Any) -> str:
        return "LOUD"

    @m.post_dump
    def after_dump(self, data: Any, **kwargs: Any) -> Any:
        data["done"] = True
        return data

    @m.pre_load
    def before_load(self, data: Any, **kwargs: Any) -> Any:
        return {name: value for name, value in data.items() if name not in ("done", "shout")}

    @m.validates("number")
    def check_number(self, value: int, **kwargs: Any) -> None:
        if value < 0:
            raise m.ValidationError("below zero")


def item() -> dict[str, Any]:
    child = {"name": "x", "tags": ["a", "b"]}
    return {
        "number": 7,
        "ratio": 0.5,
        "price": decimal.Decimal("1.5"),
        "when": dt.datetime(2020, 1, 2, tzinfo=dt.UTC),
        "key": uuid.UUID(int=5),
        "colour": Colour.RED,
        "child": child,
        "children": [child, child],
        "table": {"a": 1},
    }


dumping, loading = Everything(), Everything()
TEXT = dumping.dump(item())
TEXTS = Everything(many=True).dump([item()] * 2)
WRONG = {**TEXT, "no": "x", "children": [{"name": 1}], "extra": 1}


def fresh_dump() -> Any:
    return Everything().dump(item())


def fresh_load() -> Any:
    return Everything().load(TEXT)


JOBS: dict[str, Callable[[], Any]] = {
    "dump": lambda: dumping.dump(item()),
    "dump many": lambda: dumping.dump([item()] * 2, many=True),
    "load": lambda: loading.load(TEXT),
    "load many": lambda: loading.load(TEXTS, many=True),
    "refuse": lambda: loading.validate(WRONG),
    "dump with a new schema": fresh_dump,
    "load with a new schema": fresh_load,
}


def fails_at(number: int, job: Callable[[], Any]) -> tuple[str, Any]:
    """What comes of the job when the allocation with this number fails, and only that one."""
    try:
        _testcapi.set_nomemory(number, number + 1)
        try:
            result = job()
        finally:
            _testcapi.remove_mem_hooks()
    except BaseException as error:
        return ("MemoryError" if is_told(error) else f"{type(error).__name__}: {error}"), None
    return "ok", result


def is_told(error: BaseException | None) -> bool:
    """Whether an exception is about memory: itself, or by what it was raised after.

    An interpreted call for whose frame there is no memory fails without an exception in some
    CPythons, which then make a SystemError of it.
    """
    while error is not None:
        if isinstance(error, MemoryError) or "without exception set" in str(error):
            return True
        error = error.__cause__ or error.__context__
    return False


def run(job: Callable[[], Any]) -> dict[str, Any]:
    expected = job()
    strange: dict[str, int] = {}
    undisturbed = failures = number = 0
    # Where nothing failed any more, several answers in a row are right.
    while undisturbed < 50 and number < MOST:
        outcome, result = fails_at(number, job)
        undisturbed = undisturbed + 1 if outcome == "ok" else 0
        failures += outcome == "MemoryError"
        if outcome == "ok" and result != expected:
            outcome = "a wrong answer"
        if outcome not in ("ok", "MemoryError"):
            strange[outcome] = strange.get(outcome, 0) + 1
        if job() != expected:
            strange["a wrong answer afterwards"] = strange.get("a wrong answer afterwards", 0) + 1
        number += 1
    return {"failures": failures, "strange": strange, "leaked": leaked(job, min(number, 200))}


def leaked(job: Callable[[], Any], numbers: int) -> int:
    """Blocks of memory that a round of failures leaves behind, once all caches are full."""
    growth = 0
    for _ in range(3):
        before = blocks()
        for number in range(numbers):
            fails_at(number, job)
        growth = blocks() - before
    return growth


def blocks() -> int:
    gc.collect()
    return sys.getallocatedblocks()


for name, work in JOBS.items():
    begin(name)
    report(name, run(work))
