"""What a plan returns is an ordinary dictionary, whatever CPython keeps it in."""

import copy
import gc
import json
import pickle
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, strategies as st

from althaia import marshmallow as ma
from althaia.engine import instances
from althaia.engine.plan import template_of
from tests.interpreters import FREE_THREADED

SHARING = sys.version_info < (3, 16) and not FREE_THREADED
KEYS = ("a", "b", "c", "d")

Way = Callable[[Any, dict[str, Any]], dict[str, Any]]
WAYS = {
    "dump": lambda schema, data: schema.dump(data),
    "load": lambda schema, data: schema.load(data),
}


def raw(*keys):
    """A schema of these keys whose plans have been built."""
    schema = ma.Schema.from_dict({key: ma.fields.Raw(allow_none=True) for key in keys})()
    for _ in range(50):
        schema.dump(dict.fromkeys(keys, 1), many=False)
        schema.load(dict.fromkeys(keys, 1))
    return schema


def test_which_keys_are_shared():
    """Nothing else fails if templates are not used: results are right, and a third slower."""
    for keys in (("a",), KEYS, tuple(f"k{n}" for n in range(31)), ("é", "日")):
        assert list(template_of(keys) or ()) == (list(keys) if SHARING else [])
    assert template_of((1, 2)) is template_of((type("Text", (str,), {})("a"),)) is None


@pytest.mark.parametrize("size", [1, 5, 6, 20, 29, 30, 31, 60, 100, 200])
@pytest.mark.parametrize("many", [False, True])
def test_a_result_takes_about_twice_an_ordinary_ones_room_at_most(size, many):
    keys = [f"k{n}" for n in range(size)]
    schema = raw(*keys)
    outer = ma.Schema.from_dict({"inner": ma.fields.Nested(schema)})()
    outer.dump([{}] * 50, many=True)
    outer.load([{}] * 50, many=True)
    sizes = sorted({0, 1, size // 4, size // 2, size * 7 // 10, size - 1, size})
    for some in [part for n in sizes for part in (keys[size - n :], keys[:n])]:
        plain = {}
        for key in some:
            plain[key] = 1
        given = [plain] * 2 if many else plain
        objects = [SimpleNamespace(**plain)] * 2 if many else SimpleNamespace(**plain)
        results = [
            schema.dump(given, many=many),
            schema.dump(objects, many=many),
            schema.load(given, many=many),
            schema.loads(json.dumps(given), many=many),
            outer.dump({"inner": plain})["inner"],
            outer.load({"inner": plain})["inner"],
        ]
        for result in results:
            result = result[0] if type(result) is list else result
            assert list(result.items()) == list(plain.items())
            assert sys.getsizeof(result) <= 2.2 * sys.getsizeof(plain)


@pytest.mark.parametrize("size", [20, 30, 60, 100])
def test_objects_like_one_that_lacked_half_get_no_room_for_it(size):
    keys = [f"k{n}" for n in range(size)]
    schema, half = raw(*keys), {}
    for key in keys[::2]:
        half[key] = 1
    full = dict.fromkeys(keys, 1)
    rows = [half, half, full, half] * 20
    results = schema.dump([SimpleNamespace(**row) for row in rows], many=True)
    assert results == rows
    assert [list(result) for result in results] == [list(row) for row in rows]
    assert sys.getsizeof(results[-3]) == sys.getsizeof(half)


ACTIONS = {
    "set": lambda found, key, number: found.__setitem__(key, number),
    "pop": lambda found, key, number: found.pop(key, None),
    "del": lambda found, key, number: key in found and found.__delitem__(key),
    "default": lambda found, key, number: found.setdefault(key, number),
    "update": lambda found, key, number: found.update({key: number, "more": 1}),
    "popitem": lambda found, key, number: found and found.popitem(),
    "clear": lambda found, key, number: found.clear(),
    "copy": lambda found, key, number: found.copy(),
    "move": lambda found, key, number: found.__setitem__(key, found.pop(key, None)),
    "or": lambda found, key, number: found.__ior__({key: number}) and None,
}
NAMES = st.sampled_from([*KEYS, "new", "newer", "b.c", "x" * 40])


SCHEMA = raw(*KEYS)


@given(
    st.dictionaries(st.sampled_from(KEYS), st.integers() | st.lists(st.integers())),
    st.lists(st.tuples(st.sampled_from([*ACTIONS]), NAMES, st.integers()), max_size=30),
    st.sampled_from(sorted(WAYS)),
)
def test_it_is_a_dictionary_in_every_use(data, actions, way):
    ordered = {key: data[key] for key in KEYS if key in data}
    ours, plain = WAYS[way](SCHEMA, ordered), dict(ordered)
    assert type(ours) is dict
    for action, *operands in actions:
        assert ACTIONS[action](ours, *operands) == ACTIONS[action](plain, *operands)
        assert list(ours.items()) == list(plain.items())
        assert list(reversed(ours)) == list(reversed(plain))
        assert json.dumps(ours) == json.dumps(plain)
        assert len(ours) == len(plain)
    for clone in (copy.deepcopy(ours), pickle.loads(pickle.dumps(ours)), dict(**ours), {**ours}):
        assert list(clone.items()) == list(plain.items())
    # What was done to one result reaches no other.
    assert WAYS[way](SCHEMA, ordered) == ordered


def test_a_result_found_and_changed_while_it_is_made():
    """The collector's lists show a result before it is finished."""
    changes = [
        lambda found: found.clear(),
        lambda found: found.pop("b", None),
        lambda found: found.update(b="other"),
        lambda found: found.update({str(n): n for n in range(40)}),
        lambda found: found and found.popitem(),
    ]
    marked = ["marked"]

    class Looking(ma.Schema):
        a = ma.fields.Raw()
        b = ma.fields.Raw()
        c = ma.fields.Method("look")
        d = ma.fields.Raw()

        def look(self, obj):
            for found in gc.get_referrers(marked):
                if type(found) is dict and found is not obj and found.get("a") is marked:
                    changes[0](found)
            return "c"

    schema = Looking()
    data = {"a": marked, "b": [2], "d": [4]}
    while changes:
        for _ in range(5):
            result = schema.dump(data)
            assert result["c"] == "c"
            assert result["d"] == [4]
            assert sorted(result) == sorted(dict(result.items()))
        del changes[0]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 6, 7, 20, 29, 30])
def test_a_key_added_to_a_result_goes_with_it(size):
    names = [f"k{n}" for n in range(size)]
    schema = raw(*names)
    data = dict.fromkeys(names, 1)
    for number in range(20):
        key = "".join(["added", str(number), "to", str(size)])
        before = sys.getrefcount(key)
        result = schema.dump(data)
        result[key] = 1
        assert list(result) == [*names, key]
        del result
        assert sys.getrefcount(key) == before


@pytest.mark.parametrize("way", WAYS)
def test_a_template_that_is_filled_between_results(way):
    """Results before, at and after the filling are the same, also with keys that are missing, and
    where a result is the hundredth inside another."""
    instances.build_at_once(False)

    class Node(ma.Schema):
        a = ma.fields.Raw()
        below = ma.fields.Nested(lambda: Node())
        z = ma.fields.Raw()

    schema = Node()
    for depth in (*range(12), *range(12), *range(20)):
        data = {"a": depth}
        for n in range(depth):
            data = {"below": data, "z": n} if n % 3 else {"a": n, "below": data}
        result = WAYS[way](schema, data)
        assert result == data
        assert json.dumps(result) == json.dumps(data)
