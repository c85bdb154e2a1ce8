"""mashumaro: dataclasses with generated ``to_dict`` and ``from_dict``."""

from __future__ import annotations

import datetime as dt
import json
import uuid
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, is_dataclass
from decimal import Decimal
from functools import partial
from typing import Any

from mashumaro import DataClassDictMixin
from mashumaro.config import BaseConfig

from benchmarks import data
from benchmarks.cases import flat
from benchmarks.model import Work
from benchmarks.runners.dropin import versions_of
from benchmarks.runners.plainly import read_text, spell_utc, unfold_order


@dataclass
class Author(DataClassDictMixin):
    id: int
    first: str
    last: str
    book_count: float
    age: float
    address: str


@dataclass
class Quote(DataClassDictMixin):
    id: int
    author: Author
    content: str
    posted_at: dt.datetime
    book_name: str
    page_number: float
    line_number: float
    col_number: float


@dataclass
class SignedAuthor(Author):
    def __post_serialize__(self, written: dict[str, Any]) -> dict[str, Any]:
        written["full_name"] = f"{self.first} {self.last}"
        return written


@dataclass
class SignedQuote(Quote):
    author: SignedAuthor

    def __post_serialize__(self, written: dict[str, Any]) -> dict[str, Any]:
        written["author_line"] = f"{self.author.last}, {self.author.first}"
        return written


@dataclass
class Child(DataClassDictMixin):
    number: int
    start: int
    name: str
    rank: int

    def __post_serialize__(self, written: dict[str, Any]) -> dict[str, Any]:
        written["begin"] = written.pop("start") + 10
        return written


@dataclass
class Parent(DataClassDictMixin):
    title: str
    count: int
    favourite: Child
    children: list[Child]


@dataclass
class Flat(DataClassDictMixin):
    number: int
    title: str
    ratio: float
    active: bool
    created: dt.datetime
    day: dt.date
    at: dt.time
    key: uuid.UUID
    price: Decimal
    email: str
    site: str
    colour: data.Colour
    span: dt.timedelta
    extra: Any
    label: str = field(metadata={"alias": "Label"})

    class Config(BaseConfig):
        serialize_by_alias = True


@dataclass
class Product(DataClassDictMixin):
    id: int
    name: str
    tags: list[str]
    weight: float


@dataclass
class Line(DataClassDictMixin):
    quantity: int
    price: float
    product: Product


@dataclass
class Order(DataClassDictMixin):
    id: int
    placed: dt.datetime
    city: str
    coupon: str
    totals: dict[str, float]
    lines: list[Line]


@dataclass
class Small(DataClassDictMixin):
    id: int
    name: str
    email: str
    active: bool
    joined: dt.datetime


def dump_many(kind: Any, records: Callable[[int], Any], count: int) -> Work:
    items = [kind.from_dict(record) for record in records(count)]
    return lambda: [item.to_dict() for item in items]


def first(many: Work) -> Work:
    return lambda: many()[0]  # type: ignore[index]


def dump_one(kind: Any, make: Callable[[], Any], count: int) -> Work:
    return partial(kind.from_dict(make()).to_dict)


def load_many(kind: Any, records: Callable[[int], Any], count: int) -> Work:
    items = records(count)
    return lambda: [kind.from_dict(item) for item in items]


def load_one(kind: Any, make: Callable[[], Any], count: int) -> Work:
    return partial(kind.from_dict, make())


def to_text(dump: Work) -> Work:
    return lambda: json.dumps(dump())


def from_text(kind: Any, make: Callable[[], Any]) -> Work:
    written = json.dumps(make())
    return lambda: kind.from_dict(json.loads(written))


def many_from_text(kind: Any, records: Callable[[int], Any], count: int) -> Work:
    written = json.dumps(records(count))
    return lambda: [kind.from_dict(item) for item in json.loads(written)]


def plain(output: Any) -> Any:
    if isinstance(output, str):
        return read_text(output)
    if isinstance(output, list):
        return [plain(item) for item in output]
    if is_dataclass(output) and not isinstance(output, type):
        values = asdict(output)
        return unfold_order(values) if isinstance(output, Order) else values
    return spell_utc(output)


def builds() -> Mapping[str, Callable[[int], Work]]:
    orders = partial(data.order_records, lines=20)
    flats = partial(dump_many, Flat, data.flat_records)
    parents = partial(dump_many, Parent, data.parent_records)
    return {
        **{
            f"quotes-{n}": partial(dump_many, SignedQuote, data.quote_records)
            for n in (1, 20, 1_000, 20_000)
        },
        **{f"load-quotes-{n}": partial(load_many, Quote, data.quote_records) for n in (1, 1_000)},
        **{f"children-{n}": parents for n in (2, 100)},
        **{f"growth-{n}": flats for n in flat.GROWTH},
        "children-1": lambda count: first(parents(1)),
        "flat-dicts": flats,
        "flat-objects": flats,
        "flat-slots": flats,
        "orders": partial(dump_many, Order, orders),
        "small": partial(dump_one, Small, data.small_record),
        "load-flat": partial(load_many, Flat, data.flat_records),
        "load-orders": partial(load_many, Order, orders),
        "load-small": partial(load_one, Small, data.small_record),
        "dumps-quotes": lambda count: to_text(dump_many(SignedQuote, data.quote_records, count)),
        "dumps-flat": lambda count: to_text(flats(count)),
        "dumps-orders": lambda count: to_text(dump_many(Order, orders, count)),
        "dumps-small": lambda count: to_text(dump_one(Small, data.small_record, count)),
        "loads-quotes": partial(many_from_text, Quote, data.quote_records),
        "loads-flat": partial(many_from_text, Flat, data.flat_records),
        "loads-orders": partial(many_from_text, Order, orders),
        "loads-small": lambda count: from_text(Small, data.small_record),
    }


def versions() -> dict[str, str]:
    return versions_of("mashumaro")
