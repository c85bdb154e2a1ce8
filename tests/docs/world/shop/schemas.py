from __future__ import annotations

from typing import Any

from marshmallow import Schema, fields


class LineSchema(Schema):
    product = fields.String(required=True)
    quantity = fields.Integer(required=True)


class OrderSchema(Schema):
    number = fields.Integer(required=True)
    lines = fields.List(fields.Nested(LineSchema))


def orders_of_today() -> list[dict[str, Any]]:
    return [{"number": n, "lines": [{"product": "tea", "quantity": n}]} for n in range(1, 4)]
