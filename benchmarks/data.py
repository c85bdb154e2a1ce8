"""The objects and records every library gets. Made by arithmetic, so equal everywhere."""

from __future__ import annotations

import datetime as dt
import enum
import uuid
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

START = dt.datetime(2024, 2, 29, 8, 15, 30, 250_000, tzinfo=dt.UTC)


class Bag:
    """A plain object with the attributes it is given."""

    def __init__(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)


class Colour(enum.Enum):
    """Names and values agree, so that libraries which write either give the same text."""

    red = "red"
    green = "green"
    blue = "blue"


COLOURS = tuple(Colour)


def quotes(count: int) -> list[Bag]:
    """Objects in the shape of upstream's own benchmark: a quote and its author."""
    return [
        Bag(
            id=i,
            author=Bag(
                id=i,
                first="Ada",
                last=f"Writer {i}",
                book_count=12.0 + i % 7,
                age=40.5,
                address=f"{i} Long Lane",
            ),
            content="Whatever is worth saying is worth saying twice.",
            posted_at=START + dt.timedelta(minutes=i),
            book_name=f"Collected Works {i % 50}",
            page_number=float(i % 400),
            line_number=3.0,
            col_number=17.5,
        )
        for i in range(count)
    ]


def quote_records(count: int) -> list[dict[str, Any]]:
    """What a client would send for :func:`quotes`."""
    return [
        {
            "id": i,
            "author": {
                "id": i,
                "first": "Ada",
                "last": f"Writer {i}",
                "book_count": 12.0 + i % 7,
                "age": 40.5,
                "address": f"{i} Long Lane",
            },
            "content": "Whatever is worth saying is worth saying twice.",
            "posted_at": (START + dt.timedelta(minutes=i)).isoformat(),
            "book_name": f"Collected Works {i % 50}",
            "page_number": float(i % 400),
            "line_number": 3.0,
            "col_number": 17.5,
        }
        for i in range(count)
    ]


def points(count: int) -> list[dict[str, float]]:
    """Measured places: numbers with all their digits, as sensors and maps give them."""
    return [
        {"lat": 90 / (i + 1.7), "lon": -180 / (i + 2.3), "height": i * 1.1} for i in range(count)
    ]


def articles(count: int) -> list[dict[str, Any]]:
    """Long texts beyond ASCII."""
    return [{"title": f"第{i}章", "body": "今天天气很好，我们去公园。" * 200} for i in range(count)]


class Child:
    """One of a parent's children."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.start = number * 20
        self.name = f"child {number}"
        self.rank = number * 10


class Parent:
    """A parent with ten listed children and a favourite."""

    def __init__(self, number: int) -> None:
        self.title = f"parent {number}"
        self.count = 11
        self.favourite = Child(number)
        self.children = [Child(number + k) for k in range(10)]


def parents(count: int) -> list[Parent]:
    return [Parent(i) for i in range(count)]


def parent_records(count: int) -> list[dict[str, Any]]:
    """:func:`parents` as records, for libraries that make their own objects of them."""
    return [
        {
            "title": parent.title,
            "count": parent.count,
            "favourite": dict(vars(parent.favourite)),
            "children": [dict(vars(child)) for child in parent.children],
        }
        for parent in parents(count)
    ]


@dataclass(slots=True)
class FlatSlots:
    """The flat record as a dataclass with slots."""

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
    colour: Colour
    span: dt.timedelta
    extra: Any
    label: str


def flat_dicts(count: int) -> list[dict[str, Any]]:
    """Records of fifteen fields, one of each common kind."""
    return [
        {
            "number": i,
            "title": f"title {i}",
            "ratio": i / 4,
            "active": i % 2 == 0,
            "created": START + dt.timedelta(seconds=i),
            "day": START.date() + dt.timedelta(days=i % 900),
            "at": dt.time(i % 24, i % 60, 30),
            "key": uuid.UUID(int=i * 0x1234567890ABCDEF1234567890),
            "price": Decimal(i * 25 + 5) / 100,
            "email": f"reader{i}@example.com",
            "site": f"https://example.com/readers/{i}",
            "colour": COLOURS[i % 3],
            "span": dt.timedelta(seconds=i, milliseconds=500),
            "extra": {"rank": i % 10},
            "label": f"label {i}",
        }
        for i in range(count)
    ]


def flat_objects(count: int) -> list[Bag]:
    return [Bag(**record) for record in flat_dicts(count)]


def flat_slots(count: int) -> list[FlatSlots]:
    return [FlatSlots(**record) for record in flat_dicts(count)]


def flat_records(count: int) -> list[dict[str, Any]]:
    """What a client would send for :func:`flat_dicts`: JSON's own types only."""
    return [
        {
            **{name: record[name] for name in ("number", "title", "ratio", "active", "email")},
            "created": record["created"].isoformat(),
            "day": record["day"].isoformat(),
            "at": record["at"].isoformat(),
            "key": str(record["key"]),
            "price": str(record["price"]),
            "site": record["site"],
            "colour": record["colour"].name,
            "span": record["span"].total_seconds(),
            "extra": record["extra"],
            "Label": record["label"],
        }
        for record in flat_dicts(count)
    ]


def orders(count: int, lines: int) -> list[Any]:
    """Orders, their lines, and each line's product."""
    return [
        Bag(
            id=i,
            placed=START + dt.timedelta(hours=i),
            customer=Bag(name=f"Customer {i}", address=Bag(city=f"City {i % 40}")),
            coupon=Bag(code=f"C{i % 9}", percent=i % 50),
            totals={"net": i * 10.0, "tax": i * 2.0},
            lines=[
                Bag(
                    quantity=k + 1,
                    price=(k + 1) * 2.5,
                    product=Bag(
                        id=k,
                        name=f"Product {k}",
                        tags=["new", "sale"],
                        weight=k / 8,
                    ),
                )
                for k in range(lines)
            ],
        )
        for i in range(count)
    ]


def order_records(count: int, lines: int) -> list[dict[str, Any]]:
    """What a client would send for :func:`orders`."""
    return [
        {
            "id": order.id,
            "placed": order.placed.isoformat(),
            "city": order.customer.address.city,
            "coupon": order.coupon.code,
            "totals": dict(order.totals),
            "lines": [
                {
                    "quantity": line.quantity,
                    "price": line.price,
                    "product": dict(vars(line.product)),
                }
                for line in order.lines
            ],
        }
        for order in orders(count, lines)
    ]


def small() -> Bag:
    return Bag(
        id=7,
        name="Ada Writer",
        email="ada@example.com",
        active=True,
        joined=START,
    )


def small_record() -> dict[str, Any]:
    return {
        "id": 7,
        "name": "Ada Writer",
        "email": "ada@example.com",
        "active": True,
        "joined": START.isoformat(),
    }


def signup_records(count: int) -> list[dict[str, Any]]:
    """Six fields, each of which a validator looks at."""
    return [
        {
            "name": f"reader {i}",
            "nick": f"r{i}",
            "email": f"reader{i}@example.com",
            "age": 18 + i % 60,
            "score": (i % 100) / 2,
            "plan": ("free", "basic", "pro")[i % 3],
        }
        for i in range(count)
    ]


def every_tenth(records: list[dict[str, Any]], **spoiled: Any) -> list[dict[str, Any]]:
    """``records`` with the values of every tenth replaced by ``spoiled``."""
    return [{**record, **spoiled} if i % 10 == 9 else record for i, record in enumerate(records)]


def bad_quote_records(count: int) -> list[dict[str, Any]]:
    return every_tenth(quote_records(count), page_number="many", content=None)


def bad_flat_records(count: int) -> list[dict[str, Any]]:
    return every_tenth(flat_records(count), number="x", email="nobody", day="2024-13-01")


def bad_signup_records(count: int) -> list[dict[str, Any]]:
    return every_tenth(signup_records(count), name="", age=11, plan="gold")


def bad_small_record() -> dict[str, Any]:
    return {**small_record(), "name": None, "active": "perhaps"}


def bad_order_records(count: int, lines: int) -> list[dict[str, Any]]:
    """Order records; in every tenth the last line does not load, at two levels."""
    records = order_records(count, lines)
    broken_line = {"quantity": "few", "price": 1.0, "product": {"id": 1, "tags": "new"}}
    for order in records[9::10]:
        order["lines"] = [*order["lines"][:-1], broken_line]
    return records
