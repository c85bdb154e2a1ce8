"""Wide flat records of fifteen kinds of field, from four kinds of source."""

# The base classes come from whichever marshmallow is measured, hence Any.
# mypy: disable-error-code="misc"

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from benchmarks import data
from benchmarks.cases.calls import dump_work, load_work
from benchmarks.model import Case, Goal, Marshmallow, Work

COUNT = 10_000
GROWTH = (10, 100, 1_000, 100_000)


def schema(ma: Marshmallow) -> Any:
    fields = ma.fields

    class Flat(ma.Schema):
        number = fields.Int()
        title = fields.Str()
        ratio = fields.Float()
        active = fields.Bool()
        created = fields.DateTime()
        day = fields.Date()
        at = fields.Time()
        key = fields.UUID()
        price = fields.Decimal(as_string=True)
        email = fields.Email()
        site = fields.Url()
        if hasattr(fields, "Enum"):
            colour = fields.Enum(data.Colour)
        else:  # before 3.18
            colour = fields.Str(attribute="colour.name", data_key="colour")
        span = fields.TimeDelta()
        extra = fields.Raw()
        label = fields.Str(data_key="Label")

    return Flat


def build_from(source: Callable[[int], Any]) -> Callable[[Marshmallow, int], Work]:
    return lambda ma, count: dump_work(schema(ma)(many=True), source(count))


def orm_rows(count: int) -> Any:
    """Rows out of SQLite by way of SQLAlchemy's ORM, loaded before the clock starts."""
    from benchmarks.orm import flat_rows

    return flat_rows(count)


def build_load(ma: Marshmallow, count: int) -> Work:
    return load_work(ma, schema(ma)(many=True), data.flat_records(count))


def build_load_invalid(ma: Marshmallow, count: int) -> Work:
    return load_work(ma, schema(ma)(many=True), data.bad_flat_records(count))


SOURCES: dict[str, tuple[str, Callable[[int], Any], Goal]] = {
    "dicts": ("dicts", data.flat_dicts, Goal("dump", 10, 14)),
    "objects": ("objects", data.flat_objects, Goal("dump", 10, 14)),
    "slots": ("slotted dataclasses", data.flat_slots, Goal("dump", 10, 14)),
    "orm": ("SQLAlchemy ORM rows", orm_rows, Goal("dump", 10)),
}


def cases() -> Iterator[Case]:
    for name, (kind, source, goal) in SOURCES.items():
        yield Case(
            f"flat-{name}",
            f"15 flat fields, {COUNT:,} {kind}",
            "dump",
            COUNT,
            build_from(source),
            goal,
        )
    for count in GROWTH:
        yield Case(
            f"growth-{count}",
            f"15 flat fields, {count:,} dicts",
            "growth",
            count,
            build_from(data.flat_dicts),
        )
    yield Case(
        "load-flat",
        f"15 flat fields, {COUNT:,}",
        "load",
        COUNT,
        build_load,
        Goal("load", 6, 7),
    )
    yield Case(
        "load-flat-invalid",
        f"15 flat fields, {COUNT:,}, 10 % invalid",
        "load",
        COUNT,
        build_load_invalid,
    )
