"""The guard notices what it must, and nothing else."""

import gc
import sys

import pytest

from althaia import marshmallow as ma
from althaia.engine import planner
from althaia.engine.plan import features, published_guard

RECORD = 5  # ALTHAIA_RECORD_SIZE

fields = ma.fields


def make():
    Base = type("Base", (ma.Schema,), {"a": fields.Integer()})

    class Watched(Base):
        b = fields.List(fields.DateTime())
        c = fields.Tuple([fields.Raw(), fields.String()])

    return Watched()


# Everything set again to what it was, what no plan rests on, and use.
HOLDS = [
    "pass",
    "gc.collect()",
    "for _ in range(10): schema.dump([{'a': 1, 'b': [], 'c': (1, 'x')}, {}], many=True)",
    "field.data_key = field.data_key; vars(field).update(dict(vars(field)))",
    "schema.dump_fields = schema.dump_fields; schema.dump_fields['a'] = field",
    "schema.fields['c'].tuple_fields[:] = list(schema.fields['c'].tuple_fields)",
    "schema.context = {'user': 1}; schema.only = None",
    "schema.load_fields.clear(); schema.declared_fields = {}",
    "fields.DateTime.SERIALIZATION_FUNCS['x'] = 1; del fields.DateTime.SERIALIZATION_FUNCS['x']",
]


@pytest.mark.parametrize("change", HOLDS)
def test_holds(change):
    schema = make()
    names = {**globals(), "schema": schema, "field": schema.fields["a"]}
    guard = planner.build(schema).guard
    exec(change, names)
    assert guard.check(schema)


BREAKS = [
    "s.fields['b'].inner.format = 'rfc'",
    "s.dump_fields.popitem()",
    "s.dump_fields.update(a=s.dump_fields.pop('a'))",
    "s.dump_fields.update(a=s.dump_fields['b'])",
    "s.dump_fields = dict(s.dump_fields)",
    "s.fields['c'].tuple_fields.reverse()",
    "s.fields['c'].tuple_fields[0] = fields.Raw()",
    "s.fields['c'].tuple_fields.pop()",
    "s.get_attribute = None",
    "s.__class__ = type('Own', (type(s),), {})",
    "type(s).note = 1",
    "type(s).__mro__[1].note = 1",
    "type(s).__bases__ = (ma.Schema,)",
    "s.dict_class = dict",
    "patch.setattr(fields.Integer, '_format_num', None)",
    "patch.setattr(fields.Field, 'note', 1, raising=False)",
    "patch.setitem(fields.DateTime.SERIALIZATION_FUNCS, 'iso', str)",
    "patch.setattr(f'{ma.__name__}.schema.get_value', None)",
    "field.required = True",
    "field.made_up = 1",
    "del field.data_key",
    "value = field.data_key; del field.data_key; field.data_key = value",
    "vars(field).update(required=True)",
    "field.__dict__ = {**vars(field), 'x': 1}",
    "vars(field).clear()",
    "vars(field).update({str(n): n for n in range(50)})",
    "field.__class__ = fields.Float",
]


@pytest.mark.parametrize("looked_at", [False, True])
@pytest.mark.parametrize("change", BREAKS)
def test_breaks(change, looked_at, monkeypatch):
    """However CPython keeps a field's attributes: in the object, or in a dictionary."""
    schema = make()
    field = schema.fields["a"]
    held = vars(field) if looked_at else None
    guard = planner.build(schema).guard
    assert guard.check(schema)
    exec(change, {"s": schema, "field": field, "fields": fields, "ma": ma, "patch": monkeypatch})
    assert not guard.check(schema)
    assert not guard.check(schema)
    assert held is None or len(held) != 1


def test_is_for_one_schema_and_counts():
    first, second = make(), make()
    assert not planner.build(first).guard.check(second)
    assert not planner.build(first).guard.check(3)
    schema = ma.Schema.from_dict({"a": fields.Integer(), "b": fields.Integer()})()
    guard = planner.build(schema).guard
    assert len(guard.fields) == 2 * RECORD
    assert type(schema) in guard.types
    assert fields.Integer in guard.types
    # The schema's hooks: pre_dump and post_dump.
    assert guard.lists == ([], [])


def test_keys_are_never_compared_by_value():
    class Liar(str):
        def __eq__(self, other):
            raise AssertionError("asked")

        def __hash__(self):
            return str.__hash__(self)

    schema = make()
    guard = planner.build(schema).guard
    field = schema.fields["a"]
    state = dict(vars(field))
    state.pop("data_key")
    field.__dict__ = state
    state[Liar("data_key")] = None
    assert not guard.check(schema)


def test_guards_of_a_prototype_watch_none_of_its_fields():
    """User code never gets a prototype's fields, only what the declared fields share with them."""
    cls = ma.Schema.from_dict(
        {"a": fields.String(validate=ma.validate.Length(max=1)), "b": fields.List(fields.Raw())}
    )
    for _ in range(2):
        cls().load({"a": "1"})
    (prototype,) = cls._hooks.blueprint.prototypes.values()
    guard = published_guard(prototype.schema, 1)
    assert guard.check(prototype.schema)
    assert len(guard.fields) == RECORD, "the validator"
    cls._declared_fields["a"].validators[0].max = 2
    assert not guard.check(prototype.schema)


@pytest.mark.skipif(
    not features()["dictionary watchers"], reason="this CPython tells of no changes"
)
def test_a_change_of_each_watched_dictionary_is_told_of():
    schema = make()
    guard = planner.build(schema).guard
    assert guard.check(schema)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ma.schema, "get_value", lambda *args: None)
        assert not guard.check(schema)
    assert guard.check(schema)
    field = schema.dump_fields.pop("b")
    assert not guard.check(schema)
    schema.dump_fields["b"] = field
    assert not guard.check(schema), "the order is another one"
    schema.dump_fields["c"] = schema.dump_fields.pop("c")
    assert guard.check(schema)
    schema.get_attribute = None
    assert not guard.check(schema)
    del schema.get_attribute
    assert guard.check(schema)


def test_what_holds_of_this_interpreter():
    facts = features()
    if sys.implementation.name == "cpython" and facts["global interpreter lock"]:
        known = sys.version_info[:2]
        assert facts["values of shared-key dictionaries"] == (known <= (3, 15))
        assert facts["values in instances"] == ((3, 13) <= known <= (3, 15))
        assert facts["dictionary versions"] == (known <= (3, 13))
        assert facts["dictionary watchers"] == ((3, 14) <= known <= (3, 15))
        unread = known > (3, 15) or (3, 14) <= sys.version_info < (3, 14, 8)
        assert facts["lists of the collector"] == (not unread)


def test_caches_of_attributes_and_classes_are_bounded_and_right_beyond_that():
    """Plans of more classes and sets of attributes than are remembered, which is 4,096."""
    blocks = []
    for n in range(12_500):
        if n % 4_100 == 100:  # The caches have just been emptied, or nearly.
            gc.collect()
            blocks.append(sys.getallocatedblocks())
        field = type("Own", (fields.Integer,), {})()
        setattr(field, f"note {n}", n)
        schema = ma.Schema.from_dict({"a": field}, name="S")()
        assert planner.build(schema).guard.check(schema)
        ma.class_registry._registry.pop("S", None)
    assert blocks[-1] - blocks[1] < 4_096
