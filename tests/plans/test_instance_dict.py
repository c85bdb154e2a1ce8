"""A schema that was used is the schema it was: its dictionary, copies and pickles."""

import copy
import pickle
import pickletools

import marshmallow as real
import pytest

from althaia import marshmallow as ma
from althaia.engine.plan import InstanceDict
from tests.interpreters import FREE_THREADED


class Inner(ma.Schema):
    a = ma.fields.Integer()


class Used(ma.Schema):
    number = ma.fields.Integer()
    method = ma.fields.Method("compute")
    inner = ma.fields.Nested(Inner)

    def compute(self, obj):
        return getattr(self, "label", "none")


DATA = {"number": "1", "inner": {"a": 2}}
EXPECTED = {"number": 1, "method": "none", "inner": {"a": 2}}


def used():
    schema = Used()
    for _ in range(3):
        assert schema.dump(DATA) == EXPECTED
    assert type(vars(schema)) is InstanceDict
    return schema


def test_the_names_are_upstreams():
    class Theirs(real.Schema):
        number = real.fields.Integer()
        method = real.fields.Method("compute")
        inner = real.fields.Nested({"a": real.fields.Integer()})
        compute = Used.compute

    theirs = Theirs()
    theirs.dump(DATA)
    before, after = Used(), used()
    assert sorted(vars(after)) == sorted(vars(before)) == sorted(vars(theirs))
    assert sorted(dir(after)) == sorted(dir(before))
    assert len(vars(after)) == len(vars(before))


def test_it_is_a_dictionary_in_every_use():
    schema = used()
    state = vars(schema)
    assert isinstance(state, dict)
    assert state == dict(state)
    assert {**state} == state
    assert repr(state) == repr(dict(state))
    assert type(state | {}) is dict
    assert type(state.copy()) is dict
    with pytest.raises(TypeError, match="unhashable"):
        hash(state)
    assert list(reversed(state)) == list(reversed(dict(state)))
    schema.label = "new"
    assert vars(schema)["label"] == "new"
    del schema.label
    assert "label" not in vars(schema)
    setattr(schema, "".join(["lab", "el"]), 1)
    assert schema.label == 1
    vars(schema)["label"] = 2
    assert schema.label == 2


def through_pickle(protocol):
    return lambda schema: pickle.loads(pickle.dumps(schema, protocol))


PICKLES = [through_pickle(protocol) for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1)]


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, *PICKLES])
def test_a_copy_has_a_plain_dictionary_and_is_independent(way):
    schema = used()
    other = way(schema)
    assert type(other) is Used
    # Without the GIL every schema is allocated with room for its plans.
    assert FREE_THREADED or type(vars(other)) is dict
    assert list(vars(other)) == list(vars(schema))
    for _ in range(3):
        assert other.dump(DATA) == EXPECTED
    other.dump_fields = {"number": other.fields["number"]}
    for _ in range(3):
        assert other.dump(DATA) == {"number": 1}
        assert schema.dump(DATA) == EXPECTED


def test_a_copy_of_a_changed_schema_is_changed():
    schema = used()
    schema.fields["number"].data_key = "no"
    other = copy.copy(schema)
    assert other.dump(DATA) == {"no": 1, "method": "none", "inner": {"a": 2}}


def test_a_pickle_names_nothing_of_the_engine():
    found = pickletools.genops(pickle.dumps(used(), 2))
    names = {argument for opcode, argument, _ in found if opcode.name == "GLOBAL"}
    assert f"{__name__} Used" in names
    assert not any("althaia.engine" in name for name in names)


def test_the_dictionary_itself_copies_and_pickles_plainly():
    state = vars(used())
    shallow, deep = copy.copy(state), copy.deepcopy(state)
    assert type(shallow) is type(deep) is dict
    assert shallow == state
    assert list(deep) == list(state)
    assert deep["fields"] is not state["fields"]
    numbers = InstanceDict(a=1, b=[2])
    assert pickle.loads(pickle.dumps(numbers)) == {"a": 1, "b": [2]}
    assert type(pickle.loads(pickle.dumps(numbers))) is dict


def test_what_pickle_says_about_it():
    """From Python 3.14 on, in notes."""
    notes = []
    for state in (dict, InstanceDict):
        with pytest.raises((AttributeError, pickle.PicklingError)) as caught:
            pickle.dumps(state(a=lambda: None))
        notes.append(getattr(caught.value, "__notes__", []))
    # A subclass of dict is pickled as an object with items, and says so.
    more = ["when serializing dict object"] if notes[0] else []
    assert notes[1] == notes[0] + more


def test_a_dictionary_that_holds_itself_is_deep_copied():
    schema = used()
    schema.me = schema
    schema.state = vars(schema)
    other = copy.deepcopy(schema)
    assert other.me is other
    assert other.state["me"] is other


def test_a_held_dictionary_is_never_replaced():
    schema = Used()
    held = vars(schema)
    for _ in range(5):
        assert schema.dump(DATA) == EXPECTED
    assert vars(schema) is held
    held["label"] = "seen"
    assert schema.dump(DATA)["method"] == "seen"


def test_a_schema_with_slots_and_no_room_for_a_weak_reference():
    Slotted = type("Slotted", (Used,), {"__slots__": ("label",)})
    schema = Slotted()
    for _ in range(3):
        schema.label = "slot"
        assert schema.dump(DATA)["method"] == "slot"


def test_a_schema_with_a_dictionary_of_its_own_making():
    class Own(Used):
        def __init__(self):
            super().__init__()
            self.__dict__ = type("Mine", (dict,), {})(self.__dict__)

    schema = Own()
    for _ in range(3):
        assert schema.dump(DATA) == EXPECTED
    assert type(vars(schema)).__name__ == "Mine"
