"""Classes that have just been made: their first use, their first four, and some more.

Each is made inside the call, as applications do that make a schema for a request. The collector is
on: nobody else frees a class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from benchmarks import data
from benchmarks.model import Case, Marshmallow, Work


def young(ma: Marshmallow) -> Any:
    fields = ma.fields
    return ma.Schema.from_dict(
        {
            "id": fields.Int(required=True),
            "name": fields.Str(required=True),
            "email": fields.Email(),
            "active": fields.Bool(),
        }
    )


def used(times: int) -> Callable[[Marshmallow, int], Work]:
    """A new class of which so many instances each load one object and dump one."""

    def build(ma: Marshmallow, count: int) -> Work:
        source, record = data.small(), data.small_record()

        def work() -> object:
            cls = young(ma)
            return [
                (cls().load(record, unknown="exclude"), cls().dump(source)) for _ in range(times)
            ]

        return work

    return build


def build_list(ma: Marshmallow, count: int) -> Work:
    sources = [data.small() for _ in range(count)]
    return lambda: young(ma)().dump(sources, many=True)


def cases() -> Iterator[Case]:
    """New classes; none has a goal of its own: what counts is that no row is below 1."""
    for times in (1, 4, 20):
        title = f"a new class, {times} × load and dump"
        yield Case(f"young_{times}", title, "young", times, used(times), collector=True)
    for rows in (1, 30):
        title = f"a new class, dump of {rows}"
        yield Case(f"young_list_{rows}", title, "young", rows, build_list, collector=True)
