"""A large result comes into the lists of the GC when its call ends."""

import collections
import gc
import json
import weakref

import marshmallow as upstream
import pytest

from althaia import marshmallow as ma
from tests.interpreters import FREE_THREADED

N = 1_500
LEFT_TRACKED = 1_000
"""``ALTHAIA_LEFT_TRACKED`` in cpython/growth.h."""

pytestmark = pytest.mark.skipif(FREE_THREADED, reason="tracked at once without the GIL")


def lost(result):
    """The tracked parts of a result that are in none of the GC's lists."""
    listed = {id(each) for each in gc.get_objects()}
    return [each for each in parts(result) if gc.is_tracked(each) and id(each) not in listed]


def parts(value):
    """The lists and dictionaries in a value, and itself."""
    if isinstance(value, dict | list | tuple):
        yield value
        for each in value.values() if isinstance(value, dict) else value:
            yield from parts(each)


def tracked(value):
    """What the GC tracks of a value, by place."""
    if isinstance(value, dict):
        return gc.is_tracked(value), {key: tracked(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return gc.is_tracked(value), [tracked(each) for each in value]
    return gc.is_tracked(value)


def everything(library):
    """A schema of each kind of field that makes containers."""
    fields = library.fields

    class Inner(library.Schema):
        x = fields.Integer()
        y = fields.List(fields.Integer())

    Ordered = type("Ordered", (Inner,), {"dict_class": collections.OrderedDict})

    class Dotted(library.Schema):
        x = fields.Integer(attribute="x.y")
        y = fields.List(fields.Integer(), attribute="y.z")

    wide_fields = {f"k{n}": fields.List(fields.Integer()) for n in range(32)}

    class Everything(library.Schema):
        flat = fields.Nested(Inner, only=["x"])
        inner = fields.Nested(Inner)
        many = fields.Nested(Inner, many=True)
        ordered = fields.Nested(Ordered)
        dotted = fields.Nested(Dotted)
        wide = fields.Nested(library.Schema.from_dict(wide_fields))
        open = fields.Nested(library.Schema.from_dict({}), unknown=library.INCLUDE)
        numbers = fields.List(fields.Integer())
        lists = fields.List(fields.List(fields.Nested(Inner)))
        pair = fields.Tuple((fields.Nested(Inner), fields.List(fields.Integer())))
        by_name = fields.Dict(fields.String(), fields.Nested(Inner))
        words = fields.Dict()
        raw = fields.Raw()
        plucked = fields.Pluck(Inner, "y", many=True)

    return Everything


def inner(n):
    return {"x": n, "y": [n]}


def row(n, loaded):
    """An object of :func:`everything`, some keys of which are missing in every third."""
    made = {
        "flat": {"x": n},
        "inner": inner(n),
        "many": [inner(n), {"x": n}],
        "ordered": inner(n),
        "dotted": {"x": n, "y": [n]},
        "wide": {f"k{each}": [each] for each in range(32)},
        "open": {"more": [n], "other": n},
        "numbers": [n],
        "lists": [[inner(n)], []],
        "pair": (inner(n), [n]),
        "by_name": {"k": inner(n)},
        "words": {"k": [n]},
        "raw": {"k": [n]},
        "plucked": [[n]] if loaded else [inner(n)],
    }
    return {key: value for key, value in made.items() if n % 3 or len(key) % 2}


def valid_data(schema, rows):
    with pytest.raises((ma.ValidationError, upstream.ValidationError)) as caught:
        schema.load([*rows, {"rows": "no list", "numbers": "none either"}])
    return caught.value.valid_data


WAYS = {
    "dump": lambda schema, rows: schema.dump(rows),
    "dump of an iterator": lambda schema, rows: schema.dump(iter(rows)),
    "serialize": lambda schema, rows: schema._serialize(rows, many=True),
    "load": lambda schema, rows: schema.load(rows),
    "loads": lambda schema, rows: schema.loads(json.dumps(rows)),
    "valid data": valid_data,
}


@pytest.mark.parametrize("shape", ["rows", "nested in one", "listed in one"])
@pytest.mark.parametrize("way", WAYS)
def test_the_result_is_tracked_as_upstreams(way, shape):
    rows = [row(n, loaded="dump" not in way and way != "serialize") for n in range(N // 5)]
    found = []
    gc.disable()  # It untracks tuples.
    try:
        for library in (upstream, ma):
            schema = everything(library)(many=True)
            if shape != "rows":
                field = library.fields.Nested(type(schema), many=shape == "nested in one")
                if shape != "nested in one":
                    field = library.fields.List(field)
                schema = library.Schema.from_dict({"rows": field})(many=True)
            given = rows if shape == "rows" else [{"rows": rows}]
            result = WAYS[way](schema, given)
            found.append(tracked(result))
            assert not lost(result)
    finally:
        gc.enable()
    assert found[0] == found[1]


@pytest.mark.parametrize("way", ["dump", "load", "loads"])
def test_a_growing_result_is_not_tracked(way):
    marker, seen = "a text that the lists of the result hold", []

    def look():
        seen.append(sum(type(each) is list for each in gc.get_referrers(marker)))

    class Row(ma.Schema):
        numbers = ma.fields.List(ma.fields.Function(lambda obj: marker, lambda value: marker))
        look = ma.fields.Function(lambda obj: obj.get("look") and look(), lambda value: look())

    rows = [{"numbers": [1]}] * N + [{"numbers": [1], "look": 1}]
    schema = Row(many=True)
    result = schema.loads(json.dumps(rows)) if way == "loads" else getattr(schema, way)(rows)
    look()
    assert seen[0] <= LEFT_TRACKED
    assert seen[1] > N
    assert not lost(result)


class Marked:
    """An object that a weak reference can watch."""


class Circles(ma.Schema):
    """Its results are parts of circles through ``into``, when they are complete or on the way."""

    numbers = ma.fields.List(ma.fields.Raw())
    mark = ma.fields.Raw()

    @ma.post_load
    @ma.post_dump
    def close(self, data, **options):
        assert gc.is_tracked(data["numbers"])
        data["numbers"].append(data)
        return data


@pytest.mark.parametrize("stop", [None, ValueError, KeyboardInterrupt])
@pytest.mark.parametrize("way", ["dump", "load"])
def test_circles_are_collected_however_the_call_ends(way, stop):
    class Outer(ma.Schema):
        one = ma.fields.Nested(Circles)
        others = ma.fields.List(ma.fields.Nested(Circles))
        last = ma.fields.Function(lambda obj: ending(obj.get("last")), lambda value: ending(value))

    def ending(value):
        if value and stop is not None:
            raise stop
        return value

    marked = [Marked() for _ in range(3 * N)]
    watched = [weakref.ref(each) for each in marked]
    objects = [{"numbers": [each], "mark": each} for each in marked]
    rows = [
        {"one": a, "others": [b, c]}
        for a, b, c in zip(objects[::3], objects[1::3], objects[2::3], strict=True)
    ]
    rows[-1]["last"] = True
    gc.disable()
    try:
        result = getattr(Outer(many=True), way)(rows)
        assert stop is None
    except (ValueError, KeyboardInterrupt):
        result = None
    finally:
        gc.enable()
    del marked, objects, rows, result
    gc.collect()
    assert not any(each() for each in watched)


def test_deep_results():
    """A result may be deep."""

    class Node(ma.Schema):
        numbers = ma.fields.List(ma.fields.Integer())
        below = ma.fields.List(ma.fields.Nested(lambda: Node()))

    schema = Node(many=True)
    deep = {"numbers": [1], "below": []}
    for _ in range(150):
        deep = {"numbers": [1], "below": [deep]}
    rows = [deep] * 20
    for way in (schema.dump, schema.load):
        result = way(rows)
        assert result == rows
        assert not lost(result)
