"""``python -m althaia explain MODULE:SCHEMA``."""

import json

import pytest

import althaia

SCHEMAS = """
import sys
import marshmallow
from marshmallow import Schema, fields

class Author(Schema):
    name = fields.String()

class Custom(fields.String):
    def _serialize(self, value, attr, obj, **kwargs):
        return "custom"

class Quote(Schema):
    text = fields.String()
    rating = fields.Float(data_key="stars")
    author = fields.Nested(Author)
    custom = Custom()

class Holder:
    inner = Quote(many=True)

assert sys.modules["althaia.marshmallow"] is marshmallow
"""


@pytest.fixture
def explain(run, tmp_path):
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "schemas.py").write_text(SCHEMAS)
    return lambda *words, env=None: run("-m", "althaia", "explain", *words, env=env)


def test_a_class(explain):
    done, full = explain("shop.schemas:Quote"), explain("shop.schemas:Quote", "--verbose")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "shop.schemas.Quote"
    assert "├" not in done.stdout
    if not althaia.info().compiled:
        assert "this is a pure build" in done.stdout
        assert full.stdout == done.stdout
        return
    for text in ("text:", "as 'stars'", "shop.schemas.Author", "left to the field"):
        assert text in done.stdout
    assert lines[1].startswith("  dump: 3 of 4 fields planned (custom")
    assert ("guard:" in done.stdout, "guard:" in full.stdout) == (False, True)


def test_json_says_the_same(explain):
    shown = json.loads(explain("shop.schemas:Quote", "--json").stdout)
    assert shown["schema"] == "shop.schemas.Quote"
    if althaia.info().compiled:
        fields = {field["name"]: field for field in shown["dump"]["fields"]}
        assert list(fields) == ["text", "rating", "author", "custom"]
        assert fields["rating"]["key"] == "stars"
        assert not fields["custom"]["narrow"]
    else:
        assert "this is a pure build" in shown["no_plans"]


def test_an_instance_one_without_plans_and_one_of_the_real_marshmallow(explain):
    done = explain("shop.schemas:Holder.inner")
    assert done.stdout.startswith("shop.schemas.Quote (many)"), done.stderr
    done = explain("shop.schemas:Quote", env={"ALTHAIA_PLANS": "0"})
    assert done.returncode == 0
    assert "ALTHAIA_PLANS=0" in done.stdout
    done = explain("shop.schemas:Quote", env={"ALTHAIA_DISABLE": "1"})
    assert done.returncode != 0
    assert done.stdout == ""


SDK = """
from marshmallow import Schema, fields

class C(Schema):
    z = fields.Integer()

class B(Schema):
    c = fields.Nested(C)

class A(Schema):
    one = fields.Nested(B)
    two = fields.Nested(B)

class Top(Schema):
    a = fields.Nested(A)
    b = fields.Nested(B)

def again():
    class Made(Schema):
        a = fields.Integer()
    return Made

kept = [again(), again()]

class Chooses(Schema):
    def dump(self, obj, *, many=None):
        return super().dump(obj, many=many)
"""


@pytest.fixture
def sdk(explain, tmp_path):
    (tmp_path / "sdk.py").write_text(SDK)
    if not althaia.info().compiled:
        pytest.skip("no plans run in a pure build")
    return explain


def test_nested_schemas_are_shown_once_and_two_levels_deep(sdk):
    shown = sdk("sdk:Top").stdout
    for direction in (shown.partition("  load:")[0], shown.partition("  load:")[2]):
        assert direction.count("sdk.B\n") == 1
        assert direction.count("sdk.B: as above") == 2
        assert direction.count("sdk.C: shown by --depth 3") == 1
        assert "z: number" not in direction
    deep = sdk("sdk:Top", "--depth", "3").stdout
    assert "--depth" not in deep
    assert deep.count("sdk.C\n") == 2


def test_a_schema_with_its_own_dump_and_classes_of_one_name(sdk):
    summary = sdk("sdk:Chooses").stdout.splitlines()[1]
    assert summary == "  dump: no fields, the schema has its own dump, of sdk.Chooses"
    (line,) = (each for each in sdk("sdk").stdout.splitlines() if "Made" in each)
    assert line.endswith("sdk.again.<locals>.Made")
