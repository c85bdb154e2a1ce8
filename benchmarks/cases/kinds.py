"""Every kind of field alone: one field, a thousand objects, dumped and loaded."""

# The base classes come from whichever marshmallow is measured, hence Any.
# mypy: disable-error-code="misc"

from __future__ import annotations

import datetime as dt
import ipaddress
import uuid
from collections import OrderedDict, defaultdict, namedtuple
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

from benchmarks import data
from benchmarks.cases.calls import dump_work, load_work
from benchmarks.model import Case, Marshmallow, Work

COUNT = 1_000
Pair = namedtuple("Pair", ("x", "y"))

_NOW = dt.datetime(2024, 2, 29, 8, 15, 30)

# kind -> how the field is made, the value it dumps, the value it loads
KINDS: dict[str, tuple[Callable[[Any], Any], Any, Any]] = {
    "string": (lambda f: f.String(), "text", "text"),
    "email": (lambda f: f.Email(), "a@example.com", "a@example.com"),
    "url": (lambda f: f.URL(), "https://example.com/a", "https://example.com/a"),
    "integer": (lambda f: f.Integer(), 12345, 12345),
    "float": (lambda f: f.Float(), 1.25, 1.25),
    "decimal": (lambda f: f.Decimal(), Decimal("1.25"), "1.25"),
    "decimal-string": (lambda f: f.Decimal(as_string=True), Decimal("1.25"), "1.25"),
    "boolean": (lambda f: f.Boolean(), True, "true"),
    "datetime": (lambda f: f.DateTime(), data.START, data.START.isoformat()),
    "datetime-rfc": (
        lambda f: f.DateTime(format="rfc"),
        data.START,
        "Thu, 29 Feb 2024 08:15:30 +0000",
    ),
    "datetime-timestamp": (
        lambda f: f.DateTime(format="timestamp"),
        data.START,
        data.START.timestamp(),
    ),
    "datetime-strftime": (
        lambda f: f.DateTime(format="%d.%m.%Y %H:%M"),
        _NOW,
        "29.02.2024 08:15",
    ),
    "naive-datetime": (lambda f: f.NaiveDateTime(), _NOW, _NOW.isoformat()),
    "aware-datetime": (lambda f: f.AwareDateTime(), data.START, data.START.isoformat()),
    "date": (lambda f: f.Date(), dt.date(2024, 2, 29), "2024-02-29"),
    "time": (lambda f: f.Time(), dt.time(8, 15, 30), "08:15:30"),
    "timedelta": (lambda f: f.TimeDelta(), dt.timedelta(seconds=1.5), 1.5),
    "uuid": (lambda f: f.UUID(), uuid.UUID(int=1 << 100), str(uuid.UUID(int=1 << 100))),
    "ip": (lambda f: f.IP(), ipaddress.ip_address("192.0.2.1"), "192.0.2.1"),
    "enum-name": (lambda f: f.Enum(data.Colour), data.Colour.red, "red"),
    "enum-value": (lambda f: f.Enum(data.Colour, by_value=True), data.Colour.red, "red"),
    "list": (lambda f: f.List(f.Integer()), [1, 2, 3, 4], [1, 2, 3, 4]),
    "tuple": (lambda f: f.Tuple((f.Integer(), f.String())), (1, "a"), [1, "a"]),
    "dict": (
        lambda f: f.Dict(keys=f.String(), values=f.Float()),
        {"a": 1.0, "b": 2.0},
        {"a": 1.0, "b": 2.0},
    ),
    "tuple-of-list": (lambda f: f.Tuple((f.Float(), f.Float())), [1.0, 2.0], [1.0, 2.0]),
    "tuple-of-pair": (lambda f: f.Tuple((f.Float(), f.Float())), Pair(1.0, 2.0), [1.0, 2.0]),
    "dict-ordered": (lambda f: f.Dict(values=f.Integer()), OrderedDict(a=1, b=2), {"a": 1}),
    "dict-default": (lambda f: f.Dict(values=f.Integer()), defaultdict(int, a=1), {"a": 1}),
    "raw": (lambda f: f.Raw(), {"a": 1}, {"a": 1}),
    "constant": (lambda f: f.Constant("fixed"), "fixed", "fixed"),
    "function": (
        lambda f: f.Function(lambda obj: obj["value"], lambda value: value),
        "text",
        "text",
    ),
}


def schema(ma: Marshmallow, make_field: Callable[[Any], Any]) -> Any:
    class One(ma.Schema):
        value = make_field(ma.fields)

    return One


def nested_schema(ma: Marshmallow) -> Any:
    class Inner(ma.Schema):
        number = ma.fields.Integer()

    class Outer(ma.Schema):
        value = ma.fields.Nested(Inner)

    return Outer


def dump_of(kind: str) -> Callable[[Marshmallow, int], Work]:
    make_field, value, _ = KINDS[kind]
    return lambda ma, count: dump_work(
        schema(ma, make_field)(many=True), [{"value": value}] * count
    )


def load_of(kind: str) -> Callable[[Marshmallow, int], Work]:
    make_field, _, value = KINDS[kind]
    return lambda ma, count: load_work(
        ma, schema(ma, make_field)(many=True), [{"value": value}] * count
    )


def build_nested_dump(ma: Marshmallow, count: int) -> Work:
    return dump_work(nested_schema(ma)(many=True), [{"value": {"number": 1}}] * count)


def build_nested_load(ma: Marshmallow, count: int) -> Work:
    return load_work(ma, nested_schema(ma)(many=True), [{"value": {"number": 1}}] * count)


def cases() -> Iterator[Case]:
    for kind in KINDS:
        yield Case(
            f"kind-{kind}",
            f"{kind} field alone, dump",
            "kinds",
            COUNT,
            dump_of(kind),
        )
        yield Case(
            f"load-kind-{kind}",
            f"{kind} field alone, load",
            "kinds",
            COUNT,
            load_of(kind),
        )
    yield Case("kind-nested", "nested field alone, dump", "kinds", COUNT, build_nested_dump)
    yield Case("load-kind-nested", "nested field alone, load", "kinds", COUNT, build_nested_load)
