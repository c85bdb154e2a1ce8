"""The engine is loaded by the first dump or load, whatever a program has replaced by then."""

from __future__ import annotations

import pytest

REPLACED = {
    "a field": """
        class Stripped(fields.String):
            def _deserialize(self, value, attr, data, **options):
                return super()._deserialize(value, attr, data, **options).strip()

        fields.String = fields.Str = Stripped
        """,
    "all fields": """
        for name in set(fields.__all__) - {"Field"}:
            setattr(fields, name, type(name, (getattr(fields, name),), {}))
        """,
    "a validator": """
        class Length(validate.Length):
            message_min = "too short"

        validate.Length = Length
        """,
    "all validators": """
        for name, cls in list(vars(validate).items()):
            if isinstance(cls, type) and issubclass(cls, validate.Validator):
                setattr(validate, name, type(name, (cls,), {}))
        """,
    "the schema": """
        class Schema(ma.Schema):
            pass

        ma.Schema = ma.schema.Schema = Schema
        """,
    "the set of names": """
        ma.schema.OrderedSet = type("OrderedSet", (ma.orderedset.OrderedSet,), {})
        """,
}

USE = """
def use():
    class User(ma.Schema):
        a = fields.Str(validate=validate.Length(min=2))
        n = fields.Nested({"x": fields.Int()}, only=("x",))
        p = fields.Int(attribute="q.r", validate=validate.Range(max=5))
        l = fields.List(fields.Pluck({"x": fields.Decimal()}, "x"))

    nested, wrong = {"n": {"x": "1"}, "p": 1}, {"l": ["1.5"], "p": 9}
    for data in ({"a": " xy "}, {"a": "x"}, nested, {"n": 5}, wrong):
        for _ in range(3):
            print(User().dump(data | {"l": [{"x": 1}]}))
            try:
                print(User().load(data))
            except ma.ValidationError as error:
                print(error.messages, error.valid_data)
"""

BEGIN = """
import textwrap

import marshmallow as ma
from marshmallow import fields, validate
"""


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("replaced", REPLACED)
def test_a_replaced_class(patched, program, replaced, when):
    replacing = f"exec(textwrap.dedent({REPLACED[replaced]!r}))"
    first = "" if when == "before" else "use()"
    text = "\n".join([BEGIN, USE, first, replacing, "use()"])
    assert patched(text) == program(text)


@pytest.mark.parametrize(
    "name",
    [
        "utils.is_collection",
        "utils.is_sequence_but_not_string",
        "utils.set_value",
        "error_store.copy_containers",
        "error_store.ErrorStore",
        "schema.ErrorStore",
        "schema.ValidationError",
        "schema.missing",
        "schema.Schema",
    ],
)
def test_a_helper_that_a_test_replaces_for_a_while(patched, program, name):
    text = "\n".join(
        [
            BEGIN,
            USE,
            "from unittest import mock",
            f"with mock.patch('marshmallow.{name}'):",
            "    try:",
            "        ma.Schema.from_dict({'x': fields.Int()})().dump({})",
            "    except Exception as error:",
            "        print(type(error))",
            "use()",
        ]
    )
    assert patched(text) == program(text)
