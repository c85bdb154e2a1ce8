"""The schemas: nested ones, enums, money, validators, a Method field, a hook."""

from __future__ import annotations

from typing import Any

from marshmallow import Schema, ValidationError, fields, validate, validates_schema

from benchmarks.service.shop.data import Movement, Status

Data = dict[str, Any]


class UserSchema(Schema):
    id = fields.Integer()
    name = fields.String()
    email = fields.Email()
    joined = fields.Date()
    active = fields.Boolean()


class ProductSchema(Schema):
    id = fields.Integer()
    code = fields.String()
    title = fields.String()
    price = fields.Decimal(places=2, as_string=True)
    weight = fields.Float()


class LineSchema(Schema):
    position = fields.Integer()
    quantity = fields.Integer()
    price = fields.Decimal(places=2, as_string=True)
    product = fields.Nested(ProductSchema)


class OrderSchema(Schema):
    """What the shop shows of an order."""

    id = fields.Integer()
    number = fields.String()
    key = fields.UUID()
    status = fields.Enum(Status, by_value=True)
    created = fields.DateTime()
    note = fields.String()
    total = fields.Decimal(places=2, as_string=True)
    paid = fields.Boolean()
    user = fields.Nested(UserSchema)
    lines = fields.List(fields.Nested(LineSchema))
    pieces = fields.Method("count_pieces")

    def count_pieces(self, order: Any) -> int:
        return sum(line.quantity for line in order.lines)


class NewLineSchema(Schema):
    position = fields.Integer(required=True, validate=validate.Range(min=1, max=100))
    quantity = fields.Integer(required=True, validate=validate.Range(min=1, max=999))
    price = fields.Decimal(required=True, places=2, validate=validate.Range(min=0))
    product_id = fields.Integer(required=True)


class NewOrderSchema(Schema):
    """What a client posts."""

    number = fields.String(required=True, validate=validate.Length(min=5, max=20))
    key = fields.UUID(required=True)
    status = fields.Enum(Status, by_value=True, required=True)
    created = fields.AwareDateTime(required=True)
    note = fields.String(allow_none=True, validate=validate.Length(max=200))
    paid = fields.Boolean(load_default=False)
    user_id = fields.Integer(required=True)
    contact = fields.Email(required=True)
    lines = fields.List(
        fields.Nested(NewLineSchema), required=True, validate=validate.Length(min=1, max=100)
    )

    @validates_schema
    def positions_are_unique(self, data: Data, **_: Any) -> None:
        positions = [line["position"] for line in data["lines"]]
        if len(set(positions)) < len(positions):
            raise ValidationError("Two lines have the same position.", "lines")


class MovementSchema(Schema):
    """A flat record of eleven fields."""

    id = fields.Integer()
    key = fields.UUID()
    kind = fields.Enum(Movement, by_value=True)
    product_code = fields.String()
    quantity = fields.Integer()
    price = fields.Decimal(places=2, as_string=True)
    weight = fields.Float()
    at = fields.DateTime()
    day = fields.Date()
    counted = fields.Boolean()
    note = fields.String(allow_none=True)


class CountSchema(Schema):
    """The answer to a bulk POST."""

    created = fields.Integer()
    numbers = fields.List(fields.Integer())
