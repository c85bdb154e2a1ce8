"""The schemas of the demo. Nothing here knows which marshmallow it runs on."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any

from marshmallow import Schema, fields, post_dump, validate

from demo.data import Character, Width


class CategorySchema(Schema):
    code = fields.String()
    combining = fields.Boolean()


class ReleaseSchema(Schema):
    version = fields.String()
    released = fields.DateTime(attribute="released_at", format="iso")


class PartSchema(Schema):
    position = fields.Integer()
    code_point = fields.Integer(data_key="codePoint")
    name = fields.String()


class CharacterSchema(Schema):
    code_point = fields.Integer(data_key="codePoint")
    name = fields.String()
    key = fields.UUID()
    label = fields.Method("make_label")
    category = fields.Nested(CategorySchema)
    bidirectional = fields.String()
    width = fields.Enum(Width, by_value=True)
    mirrored = fields.Boolean()
    combining_class = fields.Integer(data_key="combiningClass")
    numeric = fields.Decimal(places=3, as_string=True)
    utf8 = fields.List(fields.Integer(), attribute="utf8_bytes")
    decomposition = fields.String(attribute="decomposition_kind")
    parts = fields.List(fields.Nested(PartSchema))
    since = fields.Nested(ReleaseSchema, attribute="release")

    def make_label(self, row: Character) -> str:
        return f"U+{row.code_point:04X} {row.name}"


@dataclass
class Author:
    id: int
    first: str
    last: str
    books: int
    age: float
    joined: dt.datetime

    @property
    def street(self) -> str:
        return f"{self.id} Main Street"


@dataclass
class Quote:
    id: int
    author: Author
    text: str
    posted_at: dt.datetime
    book: str
    page: float
    line: float
    column: float


class AuthorSchema(Schema):
    id = fields.Integer()
    first = fields.String()
    last = fields.String()
    full_name = fields.Method("make_full_name")
    street = fields.String()
    books = fields.Float()
    age = fields.Float()
    joined = fields.DateTime()

    def make_full_name(self, author: Author) -> str:
        return f"{author.first} {author.last}"


class QuoteSchema(Schema):
    id = fields.Integer()
    author = fields.Nested(AuthorSchema)
    text = fields.String(required=True)
    posted_at = fields.DateTime()
    book = fields.String()
    page = fields.Float()
    line = fields.Float()
    column = fields.Float()

    @post_dump
    def add_place(self, data: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        data["place"] = f"{data['book']}, p. {data['page']}"
        return data


class OrderLineSchema(Schema):
    sku = fields.String(required=True, validate=validate.Length(min=3, max=12))
    quantity = fields.Integer(required=True, validate=validate.Range(min=1))


class OrderSchema(Schema):
    id = fields.Integer(required=True)
    email = fields.Email(required=True)
    state = fields.String(validate=validate.OneOf(["open", "paid", "sent"]))
    ordered_at = fields.DateTime()
    lines = fields.List(fields.Nested(OrderLineSchema))


def orders(count: int, invalid_every: int = 0) -> list[dict[str, Any]]:
    """``count`` orders as a client sends them; every tenth, say, with three errors."""
    records = []
    for number in range(count):
        invalid = invalid_every and number % invalid_every == 0
        lines = [{"sku": f"S-{number}-{line}", "quantity": line + 1} for line in range(3)]
        if invalid:
            lines[1]["quantity"] = 0
        records.append(
            {
                "id": number,
                "email": "nobody" if invalid else f"customer{number}@example.org",
                "state": "lost" if invalid else "paid",
                "ordered_at": f"2024-02-{number % 28 + 1:02}T12:30:15",
                "lines": lines,
            }
        )
    return records


def quotes(count: int) -> list[Quote]:
    """``count`` quotes, each with an author of its own."""
    start = dt.datetime(2020, 2, 29, 12, 30, 15, 250)
    return [
        Quote(
            id=number,
            author=Author(
                id=number * 7,
                first=f"First{number % 97}",
                last=f"Last{number % 89}",
                books=number % 13,
                age=20 + number % 60,
                joined=start - dt.timedelta(days=number % 4000),
            ),
            text=f"Everything was said by {number}, but not by everyone.",
            posted_at=start + dt.timedelta(minutes=number),
            book=f"Volume {number % 31}",
            page=number % 700 + 0.5,
            line=number % 40,
            column=number % 80 / 3,
        )
        for number in range(count)
    ]
