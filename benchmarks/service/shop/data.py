"""The shop's records, made by arithmetic, so equal everywhere."""

from __future__ import annotations

import datetime as dt
import enum
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

START = dt.datetime(2025, 1, 31, 9, 30, 15, 125_000, tzinfo=dt.UTC)
WORDS = ("Kettle", "Lamp", "Café press", "Notebook", "Ruler", "Teapot", "Umbrella", "Wäscheleine")
NOTES = (None, "Leave it at the neighbour's.", 'Say "hello" first', "Straße 5, 2. Stock")


class Status(enum.Enum):
    """Where an order stands."""

    new = "new"
    paid = "paid"
    sent = "sent"
    returned = "returned"


class Movement(enum.Enum):
    """Why the stock of a product changed."""

    bought = "bought"
    sold = "sold"
    lost = "lost"


@dataclass(frozen=True, slots=True)
class Size:
    """How many records of each kind a shop has."""

    users: int = 1_000
    products: int = 500
    orders: int = 10_000
    movements: int = 200_000


FULL = Size()
SMALL = Size(users=20, products=10, orders=200, movements=1_000)


def users(count: int) -> Iterator[dict[str, Any]]:
    for i in range(1, count + 1):
        yield {
            "id": i,
            "name": f"Ada Müller {i}",
            "email": f"ada.{i}@example.com",
            "joined": START.date() - dt.timedelta(days=i % 2_000),
            "active": i % 9 != 0,
        }


def products(count: int) -> Iterator[dict[str, Any]]:
    for i in range(1, count + 1):
        yield {
            "id": i,
            "code": f"P-{i:05d}",
            "title": f"{WORDS[i % len(WORDS)]} {i}",
            "price": Decimal(199 + i * 7) / 100,
            "weight": 0.25 + i % 40 / 8,
        }


def orders(size: Size) -> Iterator[dict[str, Any]]:
    for i in range(1, size.orders + 1):
        yield {
            "id": i,
            "number": f"2025-{i:06d}",
            "key": uuid.UUID(int=i * 0x9E3779B97F4A7C15 % 2**128),
            "status": tuple(Status)[i % len(Status)],
            "created": START + dt.timedelta(minutes=i),
            "note": NOTES[i % len(NOTES)],
            "total": Decimal(sum(total for *_, total in _lines_of(i, size))) / 100,
            "paid": i % 3 != 0,
            "user_id": 1 + i % size.users,
        }


def lines(size: Size) -> Iterator[dict[str, Any]]:
    """Two to four lines for each order."""
    for order in range(1, size.orders + 1):
        for position, product, quantity, total in _lines_of(order, size):
            yield {
                "order_id": order,
                "position": position,
                "quantity": quantity,
                "price": Decimal(total) / 100 / quantity,
                "product_id": product,
            }


def _lines_of(order: int, size: Size) -> Iterator[tuple[int, int, int, int]]:
    for position in range(1, 3 + order % 3):
        product = 1 + (order * 31 + position * 17) % size.products
        quantity = 1 + (order + position) % 4
        yield position, product, quantity, quantity * (199 + product * 7)


def movements(size: Size) -> Iterator[dict[str, Any]]:
    for i in range(1, size.movements + 1):
        yield {
            "id": i,
            "key": uuid.UUID(int=i * 0xC2B2AE3D27D4EB4F % 2**128),
            "kind": tuple(Movement)[i % len(Movement)],
            "product_code": f"P-{1 + i % size.products:05d}",
            "quantity": i % 50 - 25,
            "price": Decimal(199 + i % 9_000) / 100,
            "weight": 0.25 + i % 40 / 8,
            "at": START + dt.timedelta(seconds=i),
            "day": START.date() + dt.timedelta(days=i % 365),
            "counted": i % 2 == 0,
            "note": NOTES[i % len(NOTES)],
        }


def new_orders(count: int, *, invalid: bool = False) -> list[dict[str, Any]]:
    """What a client posts: orders as JSON values; with ``invalid``, one in five is wrong."""
    return [_new_order(i, wrong=invalid and i % 5 == 0) for i in range(1, count + 1)]


def _new_order(i: int, *, wrong: bool) -> dict[str, Any]:
    order: dict[str, Any] = {
        "number": f"2026-{i:06d}",
        "key": str(uuid.UUID(int=i)),
        "status": "new",
        "created": (START + dt.timedelta(days=400, minutes=i)).isoformat(),
        "note": NOTES[i % len(NOTES)],
        "paid": i % 2 == 0,
        "user_id": 1 + i % 20,
        "contact": f"buyer.{i}@example.com",
        "lines": [
            {
                "position": position,
                "quantity": 1 + (i + position) % 4,
                "price": f"{(199 + i) / 100:.2f}",
                "product_id": 1 + (i + position) % 10,
            }
            for position in range(1, 4)
        ],
    }
    if wrong:
        order["status"] = "misplaced"
        order["contact"] = "nobody"
        order["lines"][1]["quantity"] = 0
        order["lines"][2]["position"] = 1
        order["colour"] = "green"
        del order["number"]
    return order
