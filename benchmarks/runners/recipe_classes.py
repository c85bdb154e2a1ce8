"""marshmallow-recipe: dataclasses; compiled where its Rust part installs.

The flat records are missing: it writes no time spans, and no enumeration that is not a
string or a number.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, is_dataclass
from functools import partial
from typing import Any

import marshmallow_recipe as mr

from benchmarks import data
from benchmarks.model import Work
from benchmarks.runners.dropin import versions_of
from benchmarks.runners.plainly import spell_utc, unfold_order


@dataclass
class Author:
    id: int
    first: str
    last: str
    book_count: float
    age: float
    address: str


@dataclass
class Quote:
    id: int
    author: Author
    content: str
    posted_at: dt.datetime
    book_name: str
    page_number: float
    line_number: float
    col_number: float


@dataclass
class Child:
    number: int
    start: int
    name: str
    rank: int


@dataclass
class Parent:
    title: str
    count: int
    favourite: Child
    children: list[Child]


@dataclass
class Product:
    id: int
    name: str
    tags: list[str]
    weight: float


@dataclass
class Line:
    quantity: int
    price: float
    product: Product


@dataclass
class Order:
    id: int
    placed: dt.datetime
    city: str
    coupon: str
    totals: dict[str, float]
    lines: list[Line]


@dataclass
class Small:
    id: int
    name: str
    email: str
    active: bool
    joined: dt.datetime


def finish_quote(quote: dict[str, Any]) -> dict[str, Any]:
    """It writes fields only: Python adds what is computed."""
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


# Its Rust part, where it has one: from CPython 3.12 on.
RUST = getattr(mr, "nuked", None)


def dump_many(
    kind: Any,
    records: Callable[[int], Any],
    finish: Callable[[dict[str, Any]], dict[str, Any]] | None,
    count: int,
) -> Work:
    items = mr.load_many(kind, records(count))
    dump = partial(RUST.dump, list[kind], items) if RUST else partial(mr.dump_many, items)
    if finish is None:
        return dump
    return lambda: [finish(item) for item in dump()]


def first(many: Work) -> Work:
    return lambda: many()[0]  # type: ignore[index]


def dump_one(kind: Any, make: Callable[[], Any], count: int) -> Work:
    one = mr.load(kind, make())
    return partial(RUST.dump, kind, one) if RUST else partial(mr.dump, one)


def load_many(kind: Any, records: Callable[[int], Any], count: int) -> Work:
    items = records(count)
    return partial(RUST.load, list[kind], items) if RUST else partial(mr.load_many, kind, items)


def load_one(kind: Any, make: Callable[[], Any], count: int) -> Work:
    return partial(RUST.load if RUST else mr.load, kind, make())


def plain(output: Any) -> Any:
    if isinstance(output, list):
        return [plain(item) for item in output]
    if is_dataclass(output) and not isinstance(output, type):
        values = asdict(output)
        return unfold_order(values) if isinstance(output, Order) else values
    return spell_utc(output)


def builds() -> Mapping[str, Callable[[int], Work]]:
    orders = partial(data.order_records, lines=20)
    parents = partial(dump_many, Parent, data.parent_records, finish_parent)
    return {
        **{
            f"quotes-{n}": partial(dump_many, Quote, data.quote_records, finish_quote)
            for n in (1, 20, 1_000, 20_000)
        },
        **{f"load-quotes-{n}": partial(load_many, Quote, data.quote_records) for n in (1, 1_000)},
        **{f"children-{n}": parents for n in (2, 100)},
        "children-1": lambda count: first(parents(1)),
        "orders": partial(dump_many, Order, orders, None),
        "small": partial(dump_one, Small, data.small_record),
        "load-orders": partial(load_many, Order, orders),
        "load-small": partial(load_one, Small, data.small_record),
    }


def versions() -> dict[str, str]:
    return versions_of("marshmallow-recipe", "marshmallow")
