"""The table of kinds, and how plans of each kind show themselves."""

import pkgutil
from pathlib import Path

import marshmallow as real
import pytest
import sqlalchemy as sa
from sqlalchemy import orm

import althaia
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
    told = althaia.explain(delimited()).as_dict()[direction]["fields"]
    assert [(each["name"], [inner["step"] for inner in each["inner"]]) for each in told] == [
        ("tags", ["int"]),
        ("pair", ["int", "date, ISO" if direction == "dump" else "date or time"]),
    ]


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


def test_related_objects_of_several_keys_are_dumped_as_upstream_does(at_once):
    msa = pytest.importorskip("marshmallow_sqlalchemy")
    base = orm.declarative_base()
    columns = {name: sa.Column(sa.Integer, primary_key=True) for name in ("b", "a")}
    Pair = type("Pair", (base,), {"__tablename__": "pair", **columns})

    class Holder(base):
        __tablename__ = "holder"
        id, x, y = sa.Column(sa.Integer, primary_key=True), sa.Column("x"), sa.Column("y")
        __table_args__ = (sa.ForeignKeyConstraint(["x", "y"], ["pair.b", "pair.a"]),)
        pair = orm.relationship(Pair)

    answers = []
    for module in (msa, library(ma, "marshmallow_sqlalchemy")):
        meta = {"model": Holder, "include_relationships": True, "fields": ("pair",)}
        members = {"Meta": type("Meta", (), meta)}
        schema = type("S", (module.SQLAlchemyAutoSchema,), members)()
        rows = [Holder(pair=Pair(a=1, b=2)), Holder(pair=Pair(a=3)), Holder()]
        answers.append([list(each.items()) for each in schema.dump(rows, many=True)])
    assert answers[0] == answers[1]
    assert answers[1][0] == [("pair", {"b": 2, "a": 1})]
    assert planner.build(schema).steps[0].label == "related keys"


@pytest.mark.parametrize(
    "options", [{"min": True}, {"max": True}, {"max": 10**30}, {"min": -(10**30)}, {"equal": True}]
)
def test_bounds_of_a_length_that_are_no_small_int(options, at_once):
    schemas = [
        lib.Schema.from_dict({"f": lib.fields.Raw(validate=lib.validate.Length(**options))})()
        for lib in (real, ma)
    ]
    for text in ("", "a", "ab") * 2:
        theirs, ours = (schema.validate({"f": text}) for schema in schemas)
        assert ours == theirs


@pytest.mark.parametrize(
    ("make", "direction"), [(delimited, "dump"), (delimited, "load"), (related, "dump")]
)
def test_packages_that_nobody_has_read_cost_their_fields_only(make, direction, monkeypatch):
    monkeypatch.setattr(planner, "is_known", lambda function, digests: False)
    plan = planner.build(make(), direction)
    assert plan.declined == ""
    assert all("is overridden by" in step.why for step in plan.steps)


@pytest.mark.parametrize("kind", kinds.PACKAGES, ids=lambda kind: kind.name)
def test_the_installed_release_of_each_package_has_been_read(kind):
    pytest.importorskip(kind.name.partition(".")[0])
    cls = pkgutil.resolve_name(kind.name)
    made = {"_serialize": kind.dump, "_deserialize": kind.load, "load": kind.prepare_load}
    for method in [name for name, maker in made.items() if maker]:
        assert is_known(vars(cls)[method], kind.digests)
