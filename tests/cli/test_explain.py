"""``python -m althaia explain``: one schema, or all of a module."""

import json
import re

import pytest

import althaia
from tests.engine import NEEDS_ENGINE

SCHEMAS = """
import sys
import marshmallow
from marshmallow import Schema, fields

class Price(fields.Float):
    def _serialize(self, value, attr, obj, **kwargs):
        return "much"

class Plain(Schema):
    number = fields.Int(data_key="No")

class Line(Schema):
    price = Price()
    of = fields.Nested(Plain)

class Order(Schema):
    number = fields.Int()
    lines = fields.List(fields.Nested(Line))

class Picky(Schema):
    def __init__(self, needed):
        super().__init__()

class Lost(Schema):
    there = fields.Nested("Nowhere")

class Own(Plain):
    def _serialize(self, obj, *, many=False):
        return super()._serialize(obj, many=many)

class Above(Schema):
    owns = fields.Nested(Own, many=True)

class Chooses(Schema):
    def dump(self, obj, *, many=None):
        return super().dump(obj, many=many)

class Twice(Schema):
    order = fields.Nested(Order)
    line = fields.Nested(Line)

def again():
    class Made(Schema):
        a = fields.Integer()
    return Made

class Holder:
    kept = [again(), again()]
    inner = Line(many=True)

assert sys.modules["althaia.marshmallow"] is marshmallow
"""


@pytest.fixture
def explain(run, tmp_path):
    (tmp_path / "app").mkdir()
    for name, text in {
        "__init__": "print('imported')\n",
        "schemas": SCHEMAS,
        "plain": "import marshmallow as ma\nclass Good(ma.Schema):\n    a = ma.fields.Int()\n",
    }.items():
        (tmp_path / "app" / f"{name}.py").write_text(text)
    return lambda *words, **kwargs: run("-m", "althaia", "explain", *words, **kwargs)


def test_a_class(explain):
    done, full = explain("app.schemas:Line"), explain("app.schemas:Line", "--verbose")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "app.schemas.Line"
    assert "├" not in done.stdout
    if not althaia.info().compiled:
        assert "this is a pure build" in done.stdout
        assert full.stdout == done.stdout
        return
    for text in ("of:", "as 'No'", "app.schemas.Plain", "left to the field"):
        assert text in done.stdout
    assert lines[1].startswith("  dump: 1 of 2 fields planned (price")
    assert ("guard:" in done.stdout, "guard:" in full.stdout) == (False, True)
    shown = explain("app.schemas:Chooses").stdout.splitlines()[1]
    assert shown == "  dump: no fields, the schema has its own dump, of app.schemas.Chooses"


def test_json_says_the_same(explain):
    done = explain("app.schemas:Line", "--json")
    assert "imported" in done.stderr
    shown = json.loads(done.stdout)
    assert shown["schema"] == "app.schemas.Line"
    if not althaia.info().compiled:
        assert "this is a pure build" in shown["no_plans"]
        return
    fields = {field["name"]: field for field in shown["dump"]["fields"]}
    assert [*fields] == ["price", "of"]
    assert not fields["price"]["narrow"]
    (number,) = json.loads(explain("app.schemas:Plain", "--json").stdout)["dump"]["fields"]
    assert number["key"] == "No"
    shown = json.loads(explain("app.schemas", "--json").stdout)
    lost, line = (
        each for each in shown if each["schema"] in ("app.schemas.Line", "app.schemas.Lost")
    )
    assert lost["unresolved"][0].startswith("RegistryError: ")
    assert line["unplanned"] == ["dump price"]


def test_an_instance_one_without_plans_and_one_of_the_real_marshmallow(explain):
    done = explain("app.schemas:Holder.inner")
    assert done.stdout.startswith("app.schemas.Line (many)"), done.stderr
    done = explain("app.schemas:Line", env={"ALTHAIA_PLANS": "0"})
    assert done.returncode == 0
    assert "ALTHAIA_PLANS=0" in done.stdout
    done = explain("app.schemas:Line", env={"ALTHAIA_DISABLE": "1"})
    assert done.returncode != 0
    assert done.stdout == ""


@NEEDS_ENGINE
def test_nested_schemas_are_shown_once_and_two_levels_deep(explain):
    shown = explain("app.schemas:Twice").stdout
    for direction in (shown.partition("  load:")[0], shown.partition("  load:")[2]):
        assert direction.count("app.schemas.Line\n") == 1
        assert direction.count("app.schemas.Line: as above") == 1
        assert direction.count("app.schemas.Plain: shown by --depth 3") == 1
        assert direction.count("number: int") == 1
    deep = explain("app.schemas:Twice", "--depth", "3").stdout
    assert "--depth" not in deep
    assert deep.count("app.schemas.Plain\n") == 2


@NEEDS_ENGINE
def test_a_package_worst_first(explain):
    done = explain("app")
    assert done.returncode == 0, done.stderr
    first, *lines = done.stdout.splitlines()
    assert first == "app: 11 schemas, 7 with steps outside a plan"
    assert lines[0].startswith("         ?  app.schemas.Picky: TypeError: ")
    assert "   1 of 6   app.schemas.Line: dump price" in lines
    of = {name: line for line in lines for name in re.findall(r"app\.schemas\.(\w+):", line)}
    assert of["Order"].endswith("Order: dump lines.items.price"), (
        "the code of a nested schema is counted"
    )
    assert "dump there, load there (nested schema unknown: RegistryError: " in of["Lost"]
    assert of["Lost"].count("Nowhere") == 1
    assert of["Own"].endswith("Own: dump (all) by its own _serialize")
    assert of["Above"].endswith("Above: dump owns by its own _serialize")
    planned = ("plain.Good", "schemas.Plain", "schemas.again.<locals>.Made")
    assert {f"   0 of 2   app.{name}" for name in planned} <= {*lines[-4:]}


@NEEDS_ENGINE
def test_readers_of_libraries_are_named(explain, tmp_path):
    pytest.importorskip("sqlalchemy")
    (tmp_path / "app" / "mapped.py").write_text("import sqlalchemy.orm\n")
    assert "mapped objects: read directly" in explain("app").stdout
    (tmp_path / "mapped.py").write_text("import sqlalchemy.orm\nfrom app.plain import Good\n")
    assert "mapped objects: read directly" in explain("mapped:Good").stdout


def test_where_no_plans_run_it_is_said_once(explain):
    done = explain("app", "--fail-on", "unplanned", env={"ALTHAIA_PLANS": "0"})
    assert done.returncode == 1
    (said,) = done.stdout.splitlines()
    assert said.startswith("app: 11 schemas, and no plans run: ALTHAIA_PLANS=0 is set")


@NEEDS_ENGINE
@pytest.mark.parametrize(
    ("what", "code"),
    [("app", 1), ("app.plain", 0), ("app.schemas:Line", 1), ("app.schemas:Plain", 0)],
)
def test_fail_on_unplanned(explain, what, code):
    assert explain(what, "--fail-on", "unplanned").returncode == code
    assert explain(what).returncode == 0
