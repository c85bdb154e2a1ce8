"""What a test has mocked when something is done for the first time does not stay."""

from __future__ import annotations

import pytest

PROGRAM = """
import copy
import marshmallow as ma
from unittest import mock

class Child(ma.Schema):
    x = ma.fields.Int()

class Parent(ma.Schema):
    a = ma.fields.Int()
    n = ma.fields.Nested(Child())
    e = ma.fields.Email(error_messages={{"invalid": "{{foo}} is no address"}})

first, real = Parent(), {name}
ma.validate.Email()("a@b.co")

def tried(function, *args):
    try:
        return function(*args)
    except Exception as error:
        return type(error), str(error)

with mock.patch("{name}"{how}) as mocked:
    for _ in range(3):
        print(tried(first.dump, {{"a": 1}}), tried(first.load, {{"e": "a@b.co"}}))
    if {made}:
        for _ in range(5):
            second = tried(Parent)
            print(tried(lambda: second.fields["a"] is Parent._declared_fields["a"]))
    print(len(mocked.mock_calls))
for _ in range(12):
    copied = copy.deepcopy(first)
    print(copied.dump({{"a": 1, "n": {{"x": 2}}}}), sorted(copy.deepcopy(vars(first))))
    print(tried(copied.load, {{"e": "a@b.co"}}), first.dump({{"a": 1}}))
"""


@pytest.mark.parametrize("how", ["", ", wraps=real", ", side_effect=lambda x, memo=None: x"])
@pytest.mark.parametrize("name", ["copy.deepcopy", "copy.copy"])
def test_copying(patched, program, name, how):
    text = PROGRAM.format(name=name, how=how, made=bool(how))
    assert patched(text) == program(text)


@pytest.mark.parametrize(
    "made",
    ["mock.patch('re.compile')", "mock.patch('builtins.__import__', side_effect=ImportError)"],
)
def test_the_first_address(patched, program, made):
    """The expressions for addresses are compiled when the first one is looked at."""
    text = f"""
import marshmallow as ma
from unittest import mock

class Row(ma.Schema):
    e = ma.fields.Email()

def tried(data):
    try:
        return Row().load(data)
    except Exception as error:
        return type(error), str(error)

with {made}:
    print(tried({{"e": "a@b.co"}}))
for address in ("a@b.co", "not an address@@", "a@b"):
    print(tried({{"e": address}}))
"""
    assert patched(text) == program(text)


@pytest.mark.parametrize("how", ["json.loads", "json.decoder.JSONDecoder", "builtins.open"])
def test_the_first_class(patched, program, how):
    text = f"""
import json
import marshmallow as ma
from unittest import mock

with mock.patch("{how}") as mocked:
    class Row(ma.Schema):
        x = ma.fields.Int()

    print(ma.Schema.from_dict({{"y": ma.fields.Int()}})().fields, mocked.mock_calls)
print(Row().load({{"x": "1"}}))
"""
    assert patched(text) == program(text)


@pytest.mark.parametrize("how", ["'builtins.__import__'", "'importlib.import_module'"])
def test_the_first_row_of_a_library(patched, program, how):
    """Its readers are loaded when the first one is dumped."""
    text = f"""
import marshmallow as ma
import sqlalchemy as sa
from sqlalchemy import orm
from unittest import mock

class Base(orm.DeclarativeBase):
    pass

class Order(Base):
    __tablename__ = "order"
    id = sa.Column(sa.Integer, primary_key=True)

class Row(ma.Schema):
    id = ma.fields.Int()

row = Row(many=True)
for _ in range(10):
    row.dump([{{"id": 1}}])
with mock.patch({how}, side_effect=ImportError):
    print(row.dump([Order(id=1), Order(id=2)]))
print(row.dump([Order(id=1), Order(id=2)]))
"""
    assert patched(text) == program(text)
