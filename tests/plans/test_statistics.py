"""``althaia.stats()`` counts what happened."""

import copy
import gc
import re
import sys
from pathlib import Path
from typing import Any

import pytest

import althaia
from althaia import marshmallow as ma
from althaia.engine import instances
from althaia.engine.plan import InstanceDict, statistics_of
from tests.conformance.material import schema_of
from tests.interpreters import FREE_THREADED

DOCS = Path(__file__).parents[2] / "docs"

fields = ma.fields
NOTHING = dict.fromkeys(
    ("calls", "nested", "straight", "objects", "unplanned", "built", "declined", "invalidated"), 0
)


def fresh(**members):
    """A class that nothing has been counted for."""
    return type("Counted", (ma.Schema,), {"a": fields.Integer(), **members})


def named(name, **members):
    return type(name, (ma.Schema,), {"__module__": __name__, **members})


@pytest.fixture
def schema():
    return fresh()()


@pytest.fixture
def plans_later():
    instances.build_at_once(False)
    yield
    instances.build_at_once(True)


LATER = pytest.mark.usefixtures("plans_later")


def make_dict():
    return {}


def counts(schema):
    return statistics_of(type(schema)).dump.as_dict()


def counted(**expected):
    return NOTHING | expected


@LATER
@pytest.mark.parametrize("uses", [20, 500])
def test_plans_that_hardly_anybody_goes_by_are_built_no_more(uses):
    def on_bind_field(self, field_name, field_obj):
        field_obj.metadata = {"its own": object()}

    Short = fresh(on_bind_field=on_bind_field)
    for _ in range(100):
        schema = Short()
        for _ in range(uses):
            assert schema.dump({"a": 1}) == {"a": 1}
    assert counts(schema)["built"] in (range(1, 20) if uses == 20 else [100])


@LATER
def test_a_class_that_is_used_a_few_times_pays_for_nothing():
    Short = fresh()
    for _ in range(4):
        schema = Short()
        assert Short().load({"a": 1}) == {"a": 1}
        assert schema.load(schema.dump({"a": 1})) == {"a": 1}
    assert counts(schema)["built"] == 0
    assert statistics_of(Short).load.as_dict()["built"] == 0
    assert Short._hooks.blueprint is None
    for _ in range(14):  # One that lives is planned for.
        assert Short().dump({"a": 1}) == {"a": 1}
    assert counts(schema)["built"] == 1
    assert Short._hooks.blueprint.reason == ""


def dictionary_types(schema):
    """The type of an instance's dictionary, if one has been made; keeps no reference to it."""
    found = [each for each in gc.get_referents(schema) if isinstance(each, dict)]
    return [type(each) for each in found if "fields" in each]


@LATER
@pytest.mark.skipif(FREE_THREADED, reason="instances have room for plans from the start there")
def test_an_instance_built_in_full_gets_room_for_plans_in_its_second_call():
    class OwnCopy(fields.String):
        def __deepcopy__(self, memo):
            return copy.copy(self)

    Short = type("Short", (ma.Schema,), {"a": OwnCopy()})
    # Fewer than the class's first model needs.
    for _ in range(3):
        Short()
    schema = Short()
    # Its attributes are in the object: nothing has asked for a dictionary of them.
    assert dictionary_types(schema) == []
    for kind in (dict, InstanceDict):
        assert schema.dump({"a": 1}) == {"a": "1"}
        assert dictionary_types(schema) == [kind]
    for _ in range(14):
        assert counts(schema)["built"] == 0
        schema.dump({"a": 1})
    assert counts(schema)["built"] == 1


@LATER
def test_the_pages_name_the_call_that_makes_the_first_plan():
    schema = schema_of(ma, {"a": fields.Integer()})
    calls = 0
    while not counts(schema)["built"]:
        schema.dump({"a": 1})
        calls += 1
    pages = [" ".join(page.read_text("utf-8").split()) for page in DOCS.glob("*.md")]
    named = [word for page in pages for word in re.findall(r"plan is made at the (\w+) call", page)]
    assert (calls, set(named)) == (16, {"sixteenth"})
    assert len(named) >= 4


@LATER
def test_attributes_set_before_init_are_no_first_call():
    """marshmallow-sqlalchemy's schemas do this."""

    class Session(ma.Schema):
        a = fields.Integer()

        def __init__(self, **options):
            self.session = None
            super().__init__(**options)

        def on_bind_field(self, field_name, field_obj):
            field_obj.data_key = field_name.title()

    for _ in range(60):
        schema = Session()
        assert schema.dump({"a": 1}) == {"A": 1}
    if not FREE_THREADED:  # Without the GIL there are no models.
        assert counts(schema)["calls"] > 30


class Related(list[Any]):
    """A relationship of SQLAlchemy's is such a list."""


@LATER
@pytest.mark.parametrize("kind", [Related, list, tuple, set, frozenset])
def test_a_short_collection_is_not_large(kind):
    schema = fresh()()
    few, many = ([1, 2], range(30)) if kind in (set, frozenset) else ([{}] * 3, [{}] * 30)
    schema.dump(kind(few), many=True)
    assert counts(schema)["built"] == 0
    schema.dump(kind(many), many=True)
    assert counts(schema)["built"] == 1


@LATER
@pytest.mark.parametrize(("rows", "straight"), [(3, 0), (30, 1)])
def test_a_long_text_is_loaded_by_a_plan_at_once(rows, straight):
    schema = fresh()()
    schema.loads(f"[{', '.join(['{}'] * rows)}]", many=True)
    assert statistics_of(type(schema)).load.as_dict()["straight"] == straight


@pytest.mark.parametrize("collection", [list, tuple, iter, set, dict.fromkeys])
def test_collections(schema, collection):
    for call in (schema.dump, schema.dumps):
        call(collection(range(7)), many=True)
        call(collection([]), many=True)
        call(None, many=True)
    assert counts(schema) == counted(calls=6, straight=3, objects=16, built=1)
    assert b"".join(althaia.stream(schema, collection(range(7))))
    assert counts(schema)["objects"] == 23


def test_nested_calls():
    Inner = type("Inner", (ma.Schema,), {"a": fields.Integer()})

    class Outer(ma.Schema):
        one = fields.Nested(Inner)
        many = fields.List(fields.Nested(Inner))

    row = {"one": {"a": 1}, "many": [{"a": 1}, {"a": 2}]}
    assert Outer().dump(row) == Outer().load(row) == row
    assert Outer().dumps(row)
    inner = statistics_of(Inner)
    assert inner.dump.as_dict() == counted(nested=6, built=inner.dump.built)
    assert inner.load.as_dict() == counted(nested=3, built=inner.load.built)


def test_by_name_and_direction_and_reset():
    Named, nothing = named("Named", a=fields.Integer()), {**NOTHING, "why": ""}
    Named().dump({"a": 1})
    shown = {**counted(calls=1, objects=1, built=1), "why": ""}
    assert althaia.stats(reset=True)[f"{__name__}.Named"] == {"dump": shown, "load": nothing}
    assert althaia.stats()[f"{__name__}.Named"]["dump"] == nothing
    Named().dump({"a": 1})
    assert althaia.stats()[f"{__name__}.Named"]["dump"]["calls"] == 1


def test_why_a_plan_leaves_everything():
    Odd = named("Odd", a=fields.Integer(), dict_class=property(lambda self: make_dict))
    Odd().dump({"a": 1})
    shown = althaia.stats()[f"{__name__}.Odd"]["dump"]
    assert shown["unplanned"] == 1
    assert "dict_class" in shown["why"]
    assert shown["why"] == althaia.explain(Odd).as_dict()["dump"]["declined"]


@pytest.mark.parametrize(
    ("calls", "dumped", "loaded"),
    [
        ("for _ in range(5): schema.dump(row)", {"calls": 5, "objects": 5, "built": 1}, {}),
        ("with pytest.raises(ValueError): schema.dump({'a': 'x'})", {"calls": 1, "built": 1}, {}),
        (
            "schema.fields; schema.dump(row); schema.fields['a'].data_key = 'b'; schema.dump(row)",
            {"calls": 2, "objects": 2, "built": 2, "invalidated": 1},
            {},
        ),
        (
            "schema.dict_class = lambda: {}; schema.dump(row); schema.dump(row)",
            {"unplanned": 2, "built": 1, "declined": 1},
            {},
        ),
        (
            "schema.load(row); schema.load([row] * 2, many=True); schema.validate({'a': 'x'})",
            {},
            {"calls": 3, "objects": 4, "built": 1},
        ),
    ],
)
def test_calls(schema, calls, dumped, loaded):
    exec(calls, {"schema": schema, "row": {"a": 1}, "pytest": pytest})
    counters = statistics_of(type(schema))
    assert counters.dump.as_dict() == counted(**dumped)
    assert counters.load.as_dict() == counted(**loaded)


def test_a_class_whose_metaclass_makes_it_unhashable():
    meta = type("Meta", (type(ma.Schema),), {"__hash__": None})
    options = type("Meta", (), {"register": False})
    schema = meta("Unhashable", (ma.Schema,), {"Meta": options, "a": fields.Integer()})()
    assert schema.dump({"a": "1"}) == {"a": 1}
    assert counts(schema)["calls"] == 1


@pytest.mark.skipif(
    FREE_THREADED and sys.version_info < (3, 14),
    reason="with its first thread CPython 3.13 without the GIL makes all classes immortal",
)
def test_counters_go_with_their_class_and_never_fall():
    def total(**options):
        return sum(each["load"]["calls"] for each in althaia.stats(**options).values())

    def load_once():
        class Passing(ma.Schema):
            class Meta:
                register = False

            a = fields.Integer()

        Passing().load({"a": 1})

    gc.collect()
    before = total(reset=True)
    for _ in range(3):
        load_once()
    gc.collect()
    shown = althaia.stats()
    assert total() == 3 == shown["(classes that are gone)"]["load"]["calls"]
    assert not any("load_once" in name for name in shown)
    assert before >= 0 == total(reset=True) - 3 == total()


def test_a_serialize_of_the_schemas_own_counts_what_comes_back():
    def serialize(self, obj, *, many=False):
        return obj if many else ma.Schema._serialize(self, obj, many=many)

    schema = fresh(_serialize=serialize)()
    schema.dump([{}], many=True)
    assert counts(schema)["calls"] == 0
    schema.dump({})
    assert counts(schema)["calls"] == counts(schema)["objects"] == 1


@LATER
@pytest.mark.parametrize("name", ["_serialize", "_deserialize"])
@pytest.mark.parametrize("on_instance", [False, True])
def test_a_method_of_the_schemas_own_that_never_comes_back_waits_for_its_plan(name, on_instance):
    def method(obj, **kwargs):
        return obj

    schema = fresh(**({} if on_instance else {name: staticmethod(method)}))()
    if on_instance:
        setattr(schema, name, method)
    call = schema.dump if name == "_serialize" else schema.load
    for _ in range(60):
        call({})
    statistics = statistics_of(type(schema))
    assert (statistics.dump if name == "_serialize" else statistics.load).built == 1


@LATER
def test_a_field_with_a_fail_of_its_own_costs_no_plan():
    class Failing(fields.Field):
        def fail(self, key, **kwargs):
            raise self.make_error(key, **kwargs)

    Holding = fresh(failing=Failing())
    for _ in range(40):
        Holding().dump({"failing": 1})
    assert counts(Holding())["calls"] > 20


class Hooked(ma.Schema):
    a = fields.String()

    def on_bind_field(self, field_name, field_obj):
        field_obj.data_key = field_name.upper()

    @ma.pre_load
    @ma.pre_dump
    def same(self, data, **kwargs):
        return data


class Method(ma.Schema):
    a = fields.Method("get", deserialize="get")

    def get(self, value):
        return value


def own(name):
    def method(self, *args, **kwargs):
        return getattr(super(cls, self), name)(*args, **kwargs)

    cls = type("Own", (fields.Integer,), {name: method})
    return cls()


PLANNED = {
    "nested hooked": lambda: fields.Nested(Hooked()),
    "called": lambda: fields.Nested(lambda: Hooked()),
    "in a list": lambda: fields.List(fields.Nested(Hooked())),
    "in a dict": lambda: fields.Dict(values=fields.Nested(Method())),
    "many": lambda: fields.Nested(Method(many=True)),
    "only": lambda: fields.Nested(Method, only=("a",)),
    "exclude": lambda: fields.Nested(Hooked, exclude=["a"]),
    **{name: (lambda name=name: own(name)) for name in (
        "_validate", "_validate_missing", "make_error", "_validated", "_to_string",
        "_bind_to_schema",
    )},
}  # fmt: skip


@LATER
@pytest.mark.parametrize("name", PLANNED)
@pytest.mark.parametrize("base", [ma.Schema, Hooked])
def test_no_instance_is_left_without_a_plan(name, base):
    Outer = type("Outer", (base,), {"x": PLANNED[name]()})
    value = {"a": "1", "A": "1"}
    value = {"many": [value], "in a list": [value], "in a dict": {"k": value}}.get(name, value)
    row = {"x": 1 if name.startswith(("_", "make")) else value}
    row["X"] = row["x"]
    gc.collect()

    def unplanned():
        shown = althaia.stats().values()
        return sum(each["unplanned"] for both in shown for each in both.values())

    for i in range(40):
        if i == 20:
            before = unplanned()
        Outer().dump(row)
        Outer().validate(row)
    assert unplanned() == before


@LATER
def test_calls_without_a_plan_have_a_reason():
    class Watching(fields.Field):
        def __setattr__(self, name, value):
            super().__setattr__(name, value)

    made = {"Seldom": fields.Int(), "Full": Watching()}
    Seldom, Full = (named(name, a=made[name]) for name in made)
    Seldom().dump({})
    for _ in range(40):
        Full().dump({})
    seldom, full = (althaia.stats()[f"{__name__}.{name}"]["dump"] for name in made)
    assert (seldom["unplanned"], seldom["why"]) == (1, "no instance was used often enough")
    assert (full["calls"], full["unplanned"]) == (0, 40)
    assert full["why"].startswith("no instance was used often enough, and each is built in full")
    assert full["why"].endswith(f"because {__name__}.{Watching.__qualname__} defines __setattr__")
