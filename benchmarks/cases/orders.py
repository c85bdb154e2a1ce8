"""Orders, their lines and the lines' products: nesting, List, Dict, Pluck, a dotted path."""

# The base classes come from whichever marshmallow is measured, hence Any.
# mypy: disable-error-code="misc"

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks import data
from benchmarks.cases.calls import dump_work, load_work
from benchmarks.model import Case, Goal, Marshmallow, Work

ORDERS = 500
LINES = 20


def schema(ma: Marshmallow) -> Any:
    fields = ma.fields

    class Product(ma.Schema):
        id = fields.Int()
        name = fields.Str()
        tags = fields.List(fields.Str())
        weight = fields.Float()

    class Line(ma.Schema):
        quantity = fields.Int()
        price = fields.Float()
        product = fields.Nested(Product)

    class Coupon(ma.Schema):
        code = fields.Str()
        percent = fields.Int()

    class Order(ma.Schema):
        id = fields.Int()
        placed = fields.DateTime()
        city = fields.Str(attribute="customer.address.city")
        coupon = fields.Pluck(Coupon, "code")
        totals = fields.Dict(keys=fields.Str(), values=fields.Float())
        lines = fields.List(fields.Nested(Line))

    return Order


def build_dump(ma: Marshmallow, count: int) -> Work:
    return dump_work(schema(ma)(many=True), data.orders(count, LINES))


def build_load(ma: Marshmallow, count: int) -> Work:
    return load_work(ma, schema(ma)(many=True), data.order_records(count, LINES))


def build_load_invalid(ma: Marshmallow, count: int) -> Work:
    return load_work(ma, schema(ma)(many=True), data.bad_order_records(count, LINES))


def cases() -> Iterator[Case]:
    work = f"{ORDERS} orders × {LINES} lines × product"
    yield Case("orders", work, "dump", ORDERS, build_dump, Goal("dump", 10, 14))
    yield Case("load-orders", work, "load", ORDERS, build_load, Goal("load", 36, 60))
    yield Case(
        "load-orders-invalid",
        f"{work}, 10 % invalid",
        "load",
        ORDERS,
        build_load_invalid,
        Goal("load", 10),
    )
    for like, title, build in (
        ("orders", f"{work}, collector on", build_dump),
        ("load-orders", f"{work}, load, collector on", build_load),
    ):
        yield Case(
            f"{like}-collected", title, "collector", ORDERS, build, collector=True, like=like
        )
