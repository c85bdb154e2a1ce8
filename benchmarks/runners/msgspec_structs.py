"""msgspec: structs turned into, and converted from, Python objects."""

from __future__ import annotations

import datetime as dt
import json
import uuid
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import partial
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct, field

from benchmarks import data
from benchmarks.cases import flat
from benchmarks.model import Work
from benchmarks.runners.dropin import versions_of
from benchmarks.runners.plainly import read_text, spell_utc, unfold_order

Email = Annotated[str, Meta(pattern=r"^[^@\s]+@[^@\s]+\.[^@\s]+$")]
Url = Annotated[str, Meta(pattern=r"^https?://\S+$")]


class Author(Struct):
    id: int
    first: str
    last: str
    book_count: float
    age: float
    address: str


class Quote(Struct, forbid_unknown_fields=True):
    id: int
    author: Author
    content: str
    posted_at: dt.datetime
    book_name: str
    page_number: float
    line_number: float
    col_number: float


class Child(Struct):
    number: int
    start: int
    name: str
    rank: int


class Parent(Struct):
    title: str
    count: int
    favourite: Child
    children: list[Child]


class Flat(Struct, forbid_unknown_fields=True):
    number: int
    title: str
    ratio: float
    active: bool
    created: dt.datetime
    day: dt.date
    at: dt.time
    key: uuid.UUID
    price: Decimal
    email: Email
    site: Url
    colour: data.Colour
    span: dt.timedelta
    extra: Any
    label: str = field(name="Label")


class Product(Struct, forbid_unknown_fields=True):
    id: int
    name: str
    tags: list[str]
    weight: float


class Line(Struct, forbid_unknown_fields=True):
    quantity: int
    price: float
    product: Product


class Order(Struct, forbid_unknown_fields=True):
    id: int
    placed: dt.datetime
    city: str
    coupon: str
    totals: dict[str, float]
    lines: list[Line]


class Small(Struct, forbid_unknown_fields=True):
    id: int
    name: str
    email: Email
    active: bool
    joined: dt.datetime


class Signup(Struct, forbid_unknown_fields=True):
    name: Annotated[str, Meta(min_length=1, max_length=40)]
    nick: Annotated[str, Meta(max_length=12)]
    email: Email
    age: Annotated[int, Meta(ge=18, le=120)]
    score: Annotated[float, Meta(ge=0, le=100)]
    plan: Literal["free", "basic", "pro"]


def finish_quote(quote: dict[str, Any]) -> dict[str, Any]:
    """msgspec has no computed fields: Python adds them."""
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


def finish_flat(record: dict[str, Any]) -> dict[str, Any]:
    record["span"] = record["span"].total_seconds()
    return record


def dump_many(
    kind: type[Struct],
    records: Callable[[int], Any],
    finish: Callable[[dict[str, Any]], dict[str, Any]] | None,
    count: int,
) -> Work:
    structs = msgspec.convert(records(count), list[kind], from_attributes=True, strict=False)  # type: ignore[valid-type]
    keep = (dt.timedelta,)
    dump = partial(msgspec.to_builtins, structs, builtin_types=keep)
    if finish is None:
        return dump
    return lambda: [finish(item) for item in dump()]


def first(many: Work) -> Work:
    return lambda: many()[0]  # type: ignore[index]


def dump_one(kind: type[Struct], make: Callable[[], Any], count: int) -> Work:
    return partial(msgspec.to_builtins, msgspec.convert(make(), kind, from_attributes=True))


def to_text(kind: Any, records: Callable[[], Any]) -> Work:
    structs = msgspec.convert(records(), kind, from_attributes=True, strict=False)
    return partial(msgspec.json.Encoder().encode, structs)


def finished_to_text(
    kind: type[Struct],
    records: Callable[[int], Any],
    finish: Callable[[dict[str, Any]], dict[str, Any]],
    count: int,
) -> Work:
    """Where Python adds to each object, or spells a value as msgspec does not."""
    dump = dump_many(kind, records, finish, count)
    encode = msgspec.json.Encoder().encode
    return lambda: encode(dump())


def from_text(kind: Any, records: Callable[[], Any]) -> Work:
    return partial(msgspec.json.Decoder(kind, strict=False).decode, json.dumps(records()))


def load(kind: Any, make: Callable[[], Any]) -> Work:
    return partial(msgspec.convert, make(), kind, strict=False)


def load_many(kind: type[Struct], records: Callable[[int], Any], count: int) -> Work:
    return load(list[kind], partial(records, count))  # type: ignore[valid-type]


def load_one(kind: type[Struct], make: Callable[[], Any], count: int) -> Work:
    return load(kind, make)


def plain(output: Any) -> Any:
    if isinstance(output, bytes):
        return read_text(output)
    if isinstance(output, list):
        return [plain(item) for item in output]
    if isinstance(output, Struct):
        values = {name: _deep(getattr(output, name)) for name in output.__struct_fields__}
        return unfold_order(values) if isinstance(output, Order) else values
    return spell_utc(output)


def _deep(value: Any) -> Any:
    return plain(value) if isinstance(value, (list, Struct)) else value


def builds() -> Mapping[str, Callable[[int], Work]]:
    orders = partial(data.order_records, lines=20)
    flats = partial(dump_many, Flat, data.flat_records, finish_flat)
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
        "dumps-quotes": partial(finished_to_text, Quote, data.quote_records, finish_quote),
        "dumps-flat": partial(finished_to_text, Flat, data.flat_records, finish_flat),
        "dumps-orders": lambda count: to_text(list[Order], partial(orders, count)),
        "dumps-small": lambda count: to_text(Small, data.small_record),
        "loads-quotes": lambda count: from_text(list[Quote], partial(data.quote_records, count)),
        "loads-flat": lambda count: from_text(list[Flat], partial(data.flat_records, count)),
        "loads-orders": lambda count: from_text(list[Order], partial(orders, count)),
        "loads-small": lambda count: from_text(Small, data.small_record),
    }


def versions() -> dict[str, str]:
    return versions_of("msgspec")
