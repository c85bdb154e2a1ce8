"""attrs + cattrs: classes unstructured and structured by one preconfigured converter."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import partial
from typing import Any

import attrs
import cattrs
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override

from benchmarks import data
from benchmarks.cases import flat
from benchmarks.model import Work
from benchmarks.runners.dropin import versions_of
from benchmarks.runners.plainly import spell_utc, unfold_order


@attrs.define
class Author:
    id: int
    first: str
    last: str
    book_count: float
    age: float
    address: str


@attrs.define
class Quote:
    id: int
    author: Author
    content: str
    posted_at: dt.datetime
    book_name: str
    page_number: float
    line_number: float
    col_number: float


@attrs.define
class Child:
    number: int
    start: int
    name: str
    rank: int


@attrs.define
class Parent:
    title: str
    count: int
    favourite: Child
    children: list[Child]


def _has_at(instance: Any, attribute: Any, value: str) -> None:
    if "@" not in value:
        raise ValueError("not an e-mail address")


def _is_web(instance: Any, attribute: Any, value: str) -> None:
    if not value.startswith(("http://", "https://")):
        raise ValueError("not a web address")


@attrs.define
class Flat:
    number: int
    title: str
    ratio: float
    active: bool
    created: dt.datetime
    day: dt.date
    at: dt.time
    key: uuid.UUID
    price: Decimal
    email: str = attrs.field(validator=_has_at)
    site: str = attrs.field(validator=_is_web)
    colour: data.Colour
    span: dt.timedelta
    extra: Any
    label: str


@attrs.define
class Product:
    id: int
    name: str
    tags: list[str]
    weight: float


@attrs.define
class Line:
    quantity: int
    price: float
    product: Product


@attrs.define
class Order:
    id: int
    placed: dt.datetime
    city: str
    coupon: str
    totals: dict[str, float]
    lines: list[Line]


@attrs.define
class Small:
    id: int
    name: str
    email: str = attrs.field(validator=_has_at)
    active: bool
    joined: dt.datetime


@attrs.define
class Signup:
    name: str = attrs.field(validator=[attrs.validators.min_len(1), attrs.validators.max_len(40)])
    nick: str = attrs.field(validator=attrs.validators.max_len(12))
    email: str = attrs.field(validator=_has_at)
    age: int = attrs.field(validator=[attrs.validators.ge(18), attrs.validators.le(120)])
    score: float = attrs.field(validator=[attrs.validators.ge(0), attrs.validators.le(100)])
    plan: str = attrs.field(validator=attrs.validators.in_(["free", "basic", "pro"]))


def make_converter() -> cattrs.Converter:
    made = cattrs.Converter(forbid_extra_keys=True)
    for kind in (dt.datetime, dt.date, dt.time):
        made.register_unstructure_hook(kind, lambda value: value.isoformat())
        made.register_structure_hook(kind, lambda value, to: to.fromisoformat(value))
    for kind in (uuid.UUID, Decimal):
        made.register_unstructure_hook(kind, str)
        made.register_structure_hook(kind, lambda value, to: to(value))
    made.register_unstructure_hook(dt.timedelta, lambda value: value.total_seconds())
    made.register_structure_hook(dt.timedelta, lambda value, to: to(seconds=value))
    # As strict about text as the others: by default cattrs turns anything into a string.
    made.register_structure_hook(str, _text)
    renamed = override(rename="Label")
    made.register_unstructure_hook(Flat, make_dict_unstructure_fn(Flat, made, label=renamed))
    made.register_structure_hook(Flat, make_dict_structure_fn(Flat, made, label=renamed))
    return made


def _text(value: Any, to: type) -> str:
    if not isinstance(value, str):
        raise TypeError(f"not a text: {value!r}")
    return value


converter = make_converter()


def finish_quote(quote: dict[str, Any]) -> dict[str, Any]:
    """cattrs writes fields only: Python adds what is computed."""
    author = quote["author"]
    author["full_name"] = f"{author['first']} {author['last']}"
    quote["author_line"] = f"{author['last']}, {author['first']}"
    return quote


def finish_child(child: dict[str, Any]) -> dict[str, Any]:
    child["begin"] = child.pop("start") + 10
    return child


def finish_parent(parent: dict[str, Any]) -> dict[str, Any]:
    finish_child(parent["favourite"])
    for child in parent["children"]:
        finish_child(child)
    return parent


def dump_many(
    kind: type,
    records: Callable[[int], Any],
    finish: Callable[[dict[str, Any]], dict[str, Any]] | None,
    count: int,
) -> Work:
    items = converter.structure(records(count), list[kind])  # type: ignore[valid-type]
    dump = partial(converter.unstructure, items, list[kind])  # type: ignore[valid-type]
    if finish is None:
        return dump
    return lambda: [finish(item) for item in dump()]


def first(many: Work) -> Work:
    return lambda: many()[0]  # type: ignore[index]


def dump_one(kind: type, make: Callable[[], Any], count: int) -> Work:
    return partial(converter.unstructure, converter.structure(make(), kind))


def load_many(kind: type, records: Callable[[int], Any], count: int) -> Work:
    return partial(converter.structure, records(count), list[kind])  # type: ignore[valid-type]


def load_one(kind: type, make: Callable[[], Any], count: int) -> Work:
    return partial(converter.structure, make(), kind)


def plain(output: Any) -> Any:
    if isinstance(output, list):
        return [plain(item) for item in output]
    if attrs.has(type(output)):
        values = attrs.asdict(output)
        return unfold_order(values) if isinstance(output, Order) else values
    return spell_utc(output)


def builds() -> Mapping[str, Callable[[int], Work]]:
    orders = partial(data.order_records, lines=20)
    flats = partial(dump_many, Flat, data.flat_records, None)
    parents = partial(dump_many, Parent, data.parent_records, finish_parent)
    return {
        **{
            f"quotes-{n}": partial(dump_many, Quote, data.quote_records, finish_quote)
            for n in (1, 20, 1_000, 20_000)
        },
        **{f"load-quotes-{n}": partial(load_many, Quote, data.quote_records) for n in (1, 1_000)},
        **{f"children-{n}": parents for n in (2, 100)},
        **{f"growth-{n}": flats for n in flat.GROWTH},
        "children-1": lambda count: first(parents(1)),
        "flat-dicts": flats,
        "flat-objects": flats,
        "flat-slots": flats,
        "orders": partial(dump_many, Order, orders, None),
        "small": partial(dump_one, Small, data.small_record),
        "load-flat": partial(load_many, Flat, data.flat_records),
        "load-orders": partial(load_many, Order, orders),
        "load-small": partial(load_one, Small, data.small_record),
        "load-validated": partial(load_many, Signup, data.signup_records),
    }


def versions() -> dict[str, str]:
    return versions_of("attrs", "cattrs")
