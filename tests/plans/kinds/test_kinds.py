"""The table of kinds, and how plans of each kind show themselves."""

import pkgutil
from pathlib import Path

import pytest

from althaia import marshmallow as ma
from althaia.engine import kinds, planner
from althaia.engine.objects.known_code import is_known
from benchmarks.third_party import library

fields = ma.fields
ROOT = Path(__file__).parents[3]


OF_3 = {("Boolean", "dump"), ("DateTime", "dump"), ("DateTime", "load"), ("Inferred", "dump")}
"""Methods that only marshmallow 3 defines on the class, or classes that only it has."""


def stands_for(kind, direction):
    """Whether a kind has a maker for what the newest release defines on its class."""
    return getattr(kind, direction) is not None and (kind.name, direction) not in OF_3


def test_each_kind_stands_for_what_its_class_defines():
    for kind in kinds.KINDS:
        namespace = vars(getattr(fields, kind.name, object))
        assert ("_serialize" in namespace) == stands_for(kind, "dump"), kind.name
        assert ("_deserialize" in namespace) == stands_for(kind, "load"), kind.name


def test_no_class_that_defines_a_conversion_is_forgotten():
    named = {
        kind.name for kind in kinds.KINDS if stands_for(kind, "dump") or stands_for(kind, "load")
    }
    defining = {
        value.__name__
        for value in vars(fields).values()
        if isinstance(value, type)
        and issubclass(value, fields.Field)
        and {"_serialize", "_deserialize"} & vars(value).keys()
        and value.__module__ == fields.__name__
    }
    assert defining == named


def delimited():
    webargs = pytest.importorskip("webargs.fields")
    assert webargs
    webargs = library(ma, "webargs.fields")
    members = {
        "tags": webargs.DelimitedList(fields.Int()),
        "pair": webargs.DelimitedTuple((fields.Int(), fields.Date())),
    }
    return ma.Schema.from_dict(members)()


@pytest.mark.parametrize("direction", ["dump", "load"])
def test_fields_of_packages_that_were_read_have_steps(direction):
    plan = planner.build(delimited(), direction)
    assert all(step.label == "delimited text" for step in plan.steps)


@pytest.mark.parametrize("direction", ["dump", "load"])
def test_fields_of_a_release_that_nobody_has_read_have_none(direction, monkeypatch):
    monkeypatch.setattr(planner, "is_known", lambda function, digests: False)
    step = planner.build(delimited(), direction).steps[0]
    assert step.label != "delimited text"
    assert "is overridden by" in step.why


def related():
    pytest.importorskip("marshmallow_sqlalchemy")
    from benchmarks import orm

    class Order(library(ma, "marshmallow_sqlalchemy").SQLAlchemyAutoSchema):
        class Meta:
            model = orm.Order
            include_relationships = True
            fields = ("customer", "lines")

    return Order()


def test_related_objects_have_steps():
    one, several = sorted(planner.build(related()).steps, key=lambda step: str(step.key))
    assert one.label == "related keys"
    assert several.label == "list"
    assert several.inner()["items"].label == "related keys"


def test_packages_that_nobody_has_read_cost_their_fields_only(monkeypatch):
    monkeypatch.setattr(planner, "is_known", lambda function, digests: False)
    plan = planner.build(related())
    assert plan.declined == ""
    assert all("is overridden by" in step.why for step in plan.steps)


@pytest.mark.parametrize("kind", kinds.PACKAGES, ids=lambda kind: kind.name)
def test_the_installed_release_of_each_package_has_been_read(kind):
    pytest.importorskip(kind.name.partition(".")[0])
    cls = pkgutil.resolve_name(kind.name)
    made = {"_serialize": kind.dump, "_deserialize": kind.load, "load": kind.prepare_load}
    for method in [name for name, maker in made.items() if maker]:
        assert is_known(vars(cls)[method], kind.digests)
