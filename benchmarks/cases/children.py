"""The workload of the public python-serialization-benchmark: a parent and eleven children."""

# The base classes come from whichever marshmallow is measured, hence Any.
# mypy: disable-error-code="misc"

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks import data
from benchmarks.cases.calls import dump_work
from benchmarks.model import Case, Goal, Marshmallow, Work


def schema(ma: Marshmallow) -> Any:
    fields = ma.fields

    class Child(ma.Schema):
        number = fields.Int()
        begin = fields.Method("get_begin")
        name = fields.Str()
        rank = fields.Int()

        def get_begin(self, child: data.Child) -> int:
            return child.start + 10

    class Parent(ma.Schema):
        title = fields.Str()
        count = fields.Int()
        favourite = fields.Nested(Child)
        children = fields.Nested(Child, many=True)

    return Parent


def build_one(ma: Marshmallow, count: int) -> Work:
    return dump_work(schema(ma)(), data.parents(1)[0])


def build_many(ma: Marshmallow, count: int) -> Work:
    return dump_work(schema(ma)(many=True), data.parents(count))


def cases() -> Iterator[Case]:
    yield Case("children-1", "parent with 11 children, one", "dump", 1, build_one, Goal("dump", 15))
    yield Case(
        "children-2",
        "parent with 11 children, two",
        "dump",
        2,
        build_many,
    )
    yield Case(
        "children-100",
        "parent with 11 children, Method field",
        "dump",
        100,
        build_many,
        Goal("dump", 15, 20),
    )
