from __future__ import annotations

from marshmallow import Schema, fields


class User(Schema):
    name = fields.String(required=True)
    email = fields.Email()
    born = fields.Date()


UserSchema = User


class RowSchema(Schema):
    key = fields.String(required=True)
    amount = fields.Integer()
