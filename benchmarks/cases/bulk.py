"""Bulk calls in which much of the work is the user's own code: hooks, validators, methods."""

# The base classes come from whichever marshmallow is measured, hence Any.
# mypy: disable-error-code="misc, untyped-decorator"

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

from benchmarks import data
from benchmarks.cases.calls import dump_work, load_work
from benchmarks.model import Case, Goal, Marshmallow, Work

ORDERS = 500
CHILDREN = 1_000


def order_schema(ma: Marshmallow) -> Any:
    fields, validate = ma.fields, ma.validate

    class Line(ma.Schema):
        sku = fields.Str(required=True, validate=validate.Length(min=3, max=20))
        quantity = fields.Int(required=True, validate=validate.Range(min=1))
        price = fields.Decimal(required=True, places=2)

    class Order(ma.Schema):
        number = fields.UUID(required=True)
        email = fields.Email(required=True)
        colour = fields.Enum(data.Colour)
        total = fields.Decimal(required=True, places=2)
        placed = fields.DateTime()
        note = fields.Str(allow_none=True)
        lines = fields.List(fields.Nested(Line), required=True)

        @ma.pre_load
        def clean(self, record: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
            return {**record, "email": record["email"].strip().lower()}

        @ma.validates("note")
        def check_note(self, value: str | None, **kwargs: Any) -> None:
            if value is not None and "<" in value:
                raise ma.ValidationError("No markup.")

        @ma.validates_schema
        def check_lines(self, order: dict[str, Any], **kwargs: Any) -> None:
            if not order["lines"]:
                raise ma.ValidationError("At least one line.", "lines")

        @ma.post_load
        def make(self, order: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
            order["positions"] = len(order["lines"])
            return order

    return Order


def order_records(count: int) -> list[dict[str, Any]]:
    return [
        {
            "number": str(uuid.UUID(int=i * 0x1234567890ABCDEF1234567890)),
            "email": f" Reader{i}@Example.com ",
            "colour": data.COLOURS[i % 3].name,
            "total": f"{i}.50",
            "placed": data.START.isoformat(),
            "note": None if i % 2 else f"note {i}",
            "lines": [
                {"sku": f"SKU-{i + k:04}", "quantity": k + 1, "price": f"{k}.25"} for k in range(3)
            ],
        }
        for i in range(count)
    ]


def build_load(ma: Marshmallow, count: int) -> Work:
    return load_work(ma, order_schema(ma)(many=True), order_records(count))


def child_schema(ma: Marshmallow) -> Any:
    fields = ma.fields

    class Child(ma.Schema):
        number = fields.Int()
        begin = fields.Method("get_begin")
        label = fields.Function(lambda child: child.name.upper())
        rank = fields.Int()

        def get_begin(self, child: data.Child) -> int:
            return child.start + 10

        @ma.post_dump
        def mark(self, record: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
            record["kind"] = "child"
            return record

    return Child


def build_dump(ma: Marshmallow, count: int) -> Work:
    return dump_work(child_schema(ma)(many=True), [data.Child(i) for i in range(count)])


def cases() -> Iterator[Case]:
    yield Case(
        "load-bulk",
        f"{ORDERS} orders × 3 lines: pre_load, validates, validates_schema, post_load",
        "load",
        ORDERS,
        build_load,
        Goal("load", 8),
    )
    yield Case(
        "bulk",
        f"{CHILDREN:,} objects: Method, Function, post_dump",
        "dump",
        CHILDREN,
        build_dump,
        Goal("dump", 15),
    )
