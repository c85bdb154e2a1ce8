"""CPython 3.13 and newer number a class's changes a thousand times; then there are no plans."""

import sys

import pytest

import althaia
from althaia import marshmallow as ma
from tests.engine import NEEDS_ENGINE

pytestmark = [
    NEEDS_ENGINE,
    pytest.mark.skipif(
        sys.version_info < (3, 13), reason="this CPython numbers all changes it ever meets"
    ),
]
DATA = {"f": 1}


def use_up_versions(cls):
    for number in range(1_100):
        cls.marker = number
        assert cls.marker == number


def use(schema):
    for _ in range(200):
        assert schema.dump(DATA) == DATA
        assert schema.load(DATA) == DATA


def built(cls):
    from althaia.engine.plan import statistics_of

    counters = statistics_of(cls).as_dict()
    return counters["dump"]["built"] + counters["load"]["built"]


@pytest.mark.parametrize("changed", ["schema", "field"])
@pytest.mark.parametrize("used", [True, False])
def test_a_class_without_versions_is_analysed_once(used, changed):
    Own = type("Own", (ma.fields.Integer,), {})
    Changed = type("Changed", (ma.Schema,), {"f": Own()})
    schema = Changed()
    if used:
        use(schema)
    before = built(Changed)
    use_up_versions(Changed if changed == "schema" else Own)
    use(schema)
    assert built(Changed) - before == 2
    explanation = althaia.explain(schema).as_dict()
    for direction in ("dump", "load"):
        assert explanation[direction]["declined"].endswith(
            f"{'Changed' if changed == 'schema' else 'Own'}, or a base of it, was changed so often "
            "that CPython gives it no version any more"
        )


def test_what_changes_later_is_seen():
    Own = type("Own", (ma.fields.Integer,), {})
    Schema = type("Schema", (ma.Schema,), {"f": Own()})
    schema = Schema()
    use_up_versions(Own)
    use(schema)
    Own._serialize = lambda self, value, *args, **kwargs: ("own", value)
    assert schema.dump(DATA) == {"f": ("own", 1)}
    schema.dump_fields["f"] = ma.fields.Integer()
    assert schema.dump(DATA) == {"f": 1}
    use(schema)
    explanation = althaia.explain(schema)
    assert not explanation.as_dict()["dump"]["declined"]


def test_other_classes_keep_their_plans():
    Changed = type("Changed", (ma.Schema,), {"f": ma.fields.Integer()})
    Outer = type("Outer", (ma.Schema,), {"changed": ma.fields.Nested(Changed)})
    use_up_versions(Changed)
    schema = Outer()
    for _ in range(5):
        assert schema.dump({"changed": DATA}) == {"changed": DATA}
    explanation = althaia.explain(schema)
    assert not explanation.as_dict()["dump"]["declined"]
    nested = explanation.as_dict()["dump"]["fields"][0]["nested"]
    assert nested is not None
    assert "no version any more" in nested["dump"]["declined"]
