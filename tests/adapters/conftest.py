"""Values and schemas that the adapters' tests share."""

import dataclasses
import datetime as dt
import decimal
import json
import types
import uuid

import pytest
import simplejson

from althaia import marshmallow as ma


def outcome(call, *names):
    """Return these attributes of what a call gives, or all that its error says."""
    try:
        response = call()
    except Exception as error:
        return type(error), str(error), getattr(error, "__notes__", None)
    return [getattr(response, name) for name in names]


@dataclasses.dataclass
class Point:
    x: int
    y: float


class Html:
    def __html__(self):
        return "<b>ü & \u2028</b>"

    def __repr__(self):
        return "Html()"


VALUES = [
    None,
    True,
    0,
    -1.5e300,
    "plain",
    'quotes " and \\ and </script> \x00\x1f\x7f ü € 😀 \ud800',
    [],
    {},
    [1, [2, [3]], {"z": 1, "a": [True, None]}],
    {"b": 1, "a": {"d": 2, "c": [1.0, float("inf"), float("nan")]}},
    dt.date(2024, 2, 29),
    dt.datetime(2024, 2, 29, 12, 30, 15, 123456, tzinfo=dt.UTC),
    decimal.Decimal("1.20"),
    uuid.UUID(int=2**100 + 7),
    Point(1, 2.5),
    [Html()],
    (1, 2),
]


class LineSchema(ma.Schema):
    sku = ma.fields.String()
    price = ma.fields.Decimal(places=2, as_string=True)


class OrderSchema(ma.Schema):
    z_id = ma.fields.Integer()
    made = ma.fields.DateTime()
    note = ma.fields.String()
    lines = ma.fields.List(ma.fields.Nested(LineSchema))
    extra = ma.fields.Raw()
    amount = ma.fields.Float()


class PriceSchema(ma.Schema):
    amount = ma.fields.Decimal()
    at = ma.fields.Raw()


class WrittenElsewhere(PriceSchema):
    """Its render module takes no options, as orjson does not."""

    class Meta:
        render_module = types.SimpleNamespace(dumps=lambda value: "elsewhere", loads=json.loads)


class WrittenBySimplejson(PriceSchema):
    """Its render module takes json's options and writes other text."""

    class Meta:
        render_module = simplejson


class WithEnvelope(PriceSchema):
    """Its ``dumps`` writes more than the dumped object."""

    def dumps(self, *args, **kwargs):
        return f'{{"data": {super().dumps(*args, **kwargs)}}}'


def with_own_dumps():
    schema = PriceSchema()
    schema.dumps = lambda *args, **kwargs: "own"
    return schema


OWN_TEXTS = [WrittenElsewhere, WrittenBySimplejson, WithEnvelope, with_own_dumps]
"""Schemas whose ``dumps`` gives something else than the JSON text of what they dump."""


def order(number):
    return {
        "z_id": number,
        "made": dt.datetime(2024, 1, 1, 10, number % 60, tzinfo=dt.UTC),
        "note": f"Größe {number} \u2028 <b>",
        "lines": [{"sku": f"s{i}", "price": decimal.Decimal("9.999")} for i in range(number % 4)],
        "extra": {"b": number, "a": [None, "ü"]},
        "amount": number / 7,
    }


@pytest.fixture
def schema():
    return OrderSchema()


@pytest.fixture
def orders():
    return [order(number) for number in range(50)]
