"""What was declined because something was changed comes back once the change is gone."""

import gc
from unittest import mock

import pytest

import althaia
from althaia import marshmallow as ma

pytest.importorskip("althaia.engine.door", reason="a pure build has no engine")
LAZY_NAMES = pytest.importorskip(
    "althaia.engine.analysis", reason="a pure build has no engine"
).LAZY_NAMES
plan = pytest.importorskip("althaia.engine.plan")
InstanceDict = plan.InstanceDict

DATA = {"a": 1, "b": "x"}


def schema_class():
    return type("S", (ma.Schema,), {"a": ma.fields.Integer(), "b": ma.fields.String()})


def is_lazy(schema):
    """Whether a schema was not built in full, seen past its class."""
    # One that was built in full may have its attributes in the object, and no dictionary.
    held = [each for each in gc.get_referents(schema) if type(each) is InstanceDict]
    return any(LAZY_NAMES.isdisjoint(state) for state in held)


def instances_until_lazy(cls, **options):
    """How many instances are made until one is lazy; each is used, as in an application."""
    for made in range(3000):
        schema = cls(**options)
        if is_lazy(schema):
            return made
        schema.validate(DATA)
    raise AssertionError("no instance is lazy any more")


@pytest.mark.parametrize("direction", ["dump", "load"])
def test_an_instance_that_is_kept_gets_plans_of_its_own(direction):
    cls = schema_class()
    instances_until_lazy(cls)
    kept = cls()
    for calls in (100, 1000):
        for _ in range(calls):
            assert getattr(kept, direction)(DATA) == DATA
        assert is_lazy(kept) is (calls == 100)
    assert plan.published_guard(kept, int(direction == "load")) is not None


@pytest.mark.parametrize(
    "options",
    [
        *({"only": kind("a")} for kind in (tuple, list, set, frozenset, ma.schema.OrderedSet)),
        {"exclude": ["b"]},
        {"load_only": {"a"}, "dump_only": ("b",)},
    ],
    ids=repr,
)
def test_instances_with_options_are_lazy(options):
    assert instances_until_lazy(schema_class(), **options) < 100


@pytest.mark.parametrize("name", ["schema", "helper"])
def test_a_property_that_conversion_alone_reads_leaves_instances_lazy(name):
    computed = property(lambda self: ma.fields.Nested.schema.fget(self))
    own = type("Own", (ma.fields.Nested,), {name: computed})
    assert instances_until_lazy(type("S", (schema_class(),), {"n": own(schema_class())})) < 100


def test_a_replaced_method_is_put_back():
    cls = schema_class()
    instances_until_lazy(cls)
    with mock.patch.object(ma.Schema, "_bind_field", return_value=None):
        for _ in range(100):
            assert not is_lazy(cls())
    assert althaia.explain(cls).as_dict()["built"] == ""
    assert instances_until_lazy(cls) <= 2


@pytest.mark.parametrize(("mocks", "bound"), [(5, 3), (20, 1030), (200, 1030)])
def test_mocks_are_put_and_taken_away(mocks, bound):
    cls = schema_class()
    instances_until_lazy(cls)
    for _ in range(mocks):
        with mock.patch.object(ma.fields.Integer, "_deserialize", return_value=None):
            cls().load(DATA), cls().load(DATA)
        cls().load(DATA), cls().load(DATA)
    assert instances_until_lazy(cls) <= bound


def test_none_is_declared_for_a_name_that_is_left_out():
    """marshmallow-sqlalchemy does this for ``Meta.exclude``."""
    cls = schema_class()
    cls._declared_fields["gone"] = None
    cls.opts.exclude = ("gone",)
    assert instances_until_lazy(cls) <= 12
    cls._declared_fields["gone"] = cls._declared_fields["a"]
    instances_until_lazy(cls)
    cls._declared_fields["gone"] = None
    assert instances_until_lazy(cls) <= 2


def test_a_class_that_changes_all_the_time_is_examined_ever_less_often():
    cls = schema_class()
    instances_until_lazy(cls)
    with mock.patch(
        "althaia.engine.instances.examine",
        wraps=__import__("althaia.engine.analysis", fromlist=["examine"]).examine,
    ) as examine:
        for number in range(2000):
            cls.mark = number
            cls()
    assert 30 <= examine.call_count <= 50


def test_what_cannot_be_watched_is_looked_at_again_now_and_then():
    cls = schema_class()
    declared = cls._declared_fields
    cls._declared_fields = type("Odd", (dict,), {})(declared)
    for _ in range(10):
        assert not is_lazy(cls())
    cls._declared_fields = declared
    assert instances_until_lazy(cls) <= 3
