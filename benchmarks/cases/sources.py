"""The flat record and orders as the objects that other libraries give."""

# The base classes come from whichever marshmallow is measured, hence Any.
# mypy: disable-error-code="misc, untyped-decorator"

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterator
from dataclasses import make_dataclass
from importlib import import_module
from typing import Any

from benchmarks import data
from benchmarks.cases import flat
from benchmarks.cases.calls import dump_work
from benchmarks.model import Case, Goal, Marshmallow, Work

COUNT = 1_000
NAMES = tuple(data.FlatSlots.__dataclass_fields__)

FlatDataclass = make_dataclass("FlatDataclass", NAMES)
FlatTuple = namedtuple("FlatTuple", NAMES)


def core_rows(count: int) -> Any:
    from benchmarks.orm import flat_core_rows

    return flat_core_rows(count)


def core_mappings(count: int) -> Any:
    from benchmarks.orm import flat_mappings

    return flat_mappings(count)


def dataclasses(count: int) -> Any:
    return [FlatDataclass(**record) for record in data.flat_dicts(count)]


def attrs_objects(count: int) -> Any:
    import attrs

    cls = attrs.make_class("FlatAttrs", list(NAMES))
    return [cls(**record) for record in data.flat_dicts(count)]


def named_tuples(count: int) -> Any:
    return [FlatTuple(**record) for record in data.flat_dicts(count)]


def sqlmodel_models(count: int) -> Any:
    base: Any = import_module("sqlmodel").SQLModel

    annotations: Any = dict.fromkeys(NAMES, Any)
    model: Any = type("FlatSQLModel", (base,), {"__annotations__": annotations})
    return [model(**record) for record in data.flat_dicts(count)]


def django_models(count: int) -> Any:
    from benchmarks.django_models import flat_models

    return flat_models(count)


def orders_schema(ma: Marshmallow) -> Any:
    fields = ma.fields

    class Customer(ma.Schema):
        id = fields.Int()
        name = fields.Str()
        email = fields.Email()
        joined = fields.Date()

    class Product(ma.Schema):
        sku = fields.Str()
        name = fields.Str()
        price = fields.Decimal(as_string=True)

    class Line(ma.Schema):
        id = fields.Int()
        quantity = fields.Int()
        product = fields.Nested(Product)

    class Order(ma.Schema):
        id = fields.Int()
        placed = fields.DateTime()
        state = fields.Str()
        total = fields.Decimal(as_string=True)
        note = fields.Str()
        customer = fields.Nested(Customer)
        lines = fields.List(fields.Nested(Line))

    return Order


def build_orders(ma: Marshmallow, count: int) -> Work:
    from benchmarks.orm import order_rows

    return dump_work(orders_schema(ma)(many=True), order_rows(count))


SOURCES: dict[str, tuple[str, Callable[[int], Any], Goal | None]] = {
    "rows": ("rows of SQLAlchemy Core", core_rows, Goal("dump", 12)),
    "mappings": ("RowMappings of SQLAlchemy Core", core_mappings, None),
    "dataclasses": ("dataclasses", dataclasses, Goal("dump", 10)),
    "attrs": ("attrs objects", attrs_objects, Goal("dump", 10)),
    "namedtuples": ("named tuples", named_tuples, None),
    "sqlmodel": ("SQLModel objects", sqlmodel_models, None),
    "django": ("Django models", django_models, Goal("dump", 8)),
}


def cases() -> Iterator[Case]:
    for name, (kind, source, goal) in SOURCES.items():
        yield Case(
            f"flat-{name}",
            f"15 flat fields, {COUNT:,} {kind}",
            "dump",
            COUNT,
            flat.build_from(source),
            goal,
        )
    yield Case(
        "orm-orders",
        f"{COUNT:,} orders with customer, 3 lines and products from the ORM",
        "dump",
        COUNT,
        build_orders,
        Goal("dump", 6),
    )
