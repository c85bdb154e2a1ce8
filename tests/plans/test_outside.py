"""What falls outside a plan is told once for each class, by the logger ``althaia``."""

import logging

import pytest

from althaia import marshmallow as ma
from tests.redirect.processes import environment, run

fields = ma.fields


@pytest.fixture(autouse=True)
def _at_once(at_once, caplog):
    caplog.set_level(logging.INFO, "althaia")


class Own(fields.Field):
    def _serialize(self, value, attr, obj, **kwargs):
        return value


def test_a_field_that_runs_its_own_method(caplog):
    class Mixed(ma.Schema):
        plain = fields.Integer()
        own = Own()
        several = fields.List(Own())

    for _ in range(3):
        Mixed().dump({"own": 1})
        Mixed().load({})
    name = f"{__name__}.{Mixed.__qualname__}"
    (record,) = [each for each in caplog.records if each.name == "althaia"]
    assert record.levelno == logging.INFO
    text = record.getMessage()
    assert text.startswith(f"{name}.dump, outside its plan: own: ")
    assert "several.items: " in text
    assert "plain" not in text


def test_a_schema_without_a_plan_and_one_that_is_planned_whole(caplog):
    Plain = type("Plain", (ma.Schema,), {"plain": fields.Integer()})

    class Odd(Plain):
        def _serialize(self, obj, *, many=False):
            return super()._serialize(obj, many=many)

    Plain().dump({})
    assert caplog.records == []
    Odd().dump({})
    assert "outside its plan: the schema's own methods around the fields" in caplog.text


PROGRAM = """
import althaia; althaia.patch()
from marshmallow import Schema, fields
class Own(fields.Field):
    def _serialize(self, value, attr, obj, **kwargs):
        return value
class Order(Schema):
    own = Own()
for _ in range(30):
    Order().dump([{"own": 1}] * 200, many=True)
"""


def test_the_environment_switches_it_on(tmp_path):
    told = run("-c", PROGRAM, cwd=tmp_path, env=environment({"ALTHAIA_LOG": "1"}))
    assert told.stderr.startswith("althaia: __main__.Order.dump, outside its plan: own: ")
    assert told.stderr.count("\n") == 1
    silent = run("-c", PROGRAM, cwd=tmp_path, env=environment())
    assert (silent.stderr, silent.returncode) == ("", 0)
