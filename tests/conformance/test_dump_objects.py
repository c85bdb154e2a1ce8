"""Every sort of object given to schemas that read it in every way."""

import collections

import pytest

from tests.conformance.harness import FROM_FIRST_USE, table
from tests.conformance.material import OBJECTS, Plain, Query, Sequenced, schema_of

MODES = FROM_FIRST_USE

READERS = {
    "raw": "f=Raw(), g=Raw()",
    "default": 'g=Raw(dump_default="d"), f=Raw()',
    "string": "f=String(), absent=String()",
    "integer": "f=Integer(), g=String()",
    "attribute": 'x=Raw(attribute="f", dump_only=True), f=Raw()',
    "dotted": 'x=Raw(attribute="f.real"), y=Raw(attribute="f.f"), z=Raw(attribute="absent.f")',
    "methods": "items=Raw(), get=Raw(), keys=Raw(), h=Raw()",
    "nested": 'f=Nested({"real": Raw(), "f": Raw()}), g=List(Raw())',
    "function": 'f=Function(lambda obj: obj["f"]), g=Raw()',
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("kind", OBJECTS)
@table
def test_each_object(ma, log, kind, reader):
    schema = schema_of(ma, eval(f"dict({READERS[reader]})", vars(ma.fields).copy()))
    make = OBJECTS[kind]
    for attributes in ({}, {"f": 1}, {"f": 1, "g": "x"}, {"f": {"f": 2}, "g": [1]}):
        obj = log.watch(make(**attributes))
        log.attempt(schema.dump, obj)
        log.attempt(schema.dump, [make(**attributes), obj], many=True)


@pytest.mark.parametrize("kind", OBJECTS)
@table
def test_each_object_nested(ma, log, kind):
    child = ma.Schema.from_dict({"f": ma.fields.Raw(), "g": ma.fields.String()}, name="Child")
    fields = {
        "one": ma.fields.Nested(child),
        "many": ma.fields.Nested(child, many=True),
        "listed": ma.fields.List(ma.fields.Nested(child)),
        "mapped": ma.fields.Dict(values=ma.fields.Nested(child)),
        "plucked": ma.fields.Pluck(child, "f"),
        "all": ma.fields.Pluck(child, "g", many=True),
    }
    schema, make = schema_of(ma, fields), OBJECTS[kind]
    for name in fields:
        log.attempt(schema.dump, {name: make(f=1, g=2)})
        log.attempt(schema.dump, {name: [make(f=1, g=2), make(g=3)]})
        log.attempt(schema.dump, {name: {"k": make(f=1, g=2)}})
        log.attempt(schema.dump, {name: make()})


def _failing(items):
    yield from items
    raise LookupError("in the middle")


COLLECTIONS = {
    "list": list,
    "tuple": tuple,
    "generator": lambda items: (item for item in items),
    "failing": _failing,
    "iterator": iter,
    "query": lambda items: Query(*items),
    "sequence": lambda items: Sequenced(*items),
    "deque": collections.deque,
    "dict": lambda items: dict.fromkeys(range(len(items)), 1),
    "dict-of-items": lambda items: {"f": items},
    "values": lambda items: dict(enumerate(items)).values(),
    "map": lambda items: map(dict, items),
    "none": lambda items: None,
    "number": lambda items: 3,
    "text": lambda items: "ab",
    "one": lambda items: items[0],
    "empty": lambda items: [],
    "nones": lambda items: [None, *items, None],
    "mixed": lambda items: [*items, Plain(f=9), None, 3, "x", Plain()],
    "subclass": lambda items: type("L", (list,), {"__iter__": lambda self: iter([{"f": 7}])})(
        items
    ),
}


@pytest.mark.parametrize("many", [True, False, 1, 0, "yes", "", None])
@pytest.mark.parametrize("kind", COLLECTIONS)
def test_collections(ma, log, kind, many):
    schema = schema_of(ma, {"f": ma.fields.Integer(), "g": ma.fields.Raw(dump_default=0)})
    for _ in range(2):
        items = COLLECTIONS[kind]([{"f": "1"}, {"f": 2, "g": 3}, {}])
        log.attempt(schema.dump, items, many=many)
        log("afterwards", items)
    items = COLLECTIONS[kind]([{"f": "1"}])
    log.attempt(schema_of(ma, {"f": ma.fields.Integer()}, many=True).dump, items, many=many)


def test_what_is_asked_of_an_object_and_in_which_order(ma, log):
    class Watched:
        def __getattribute__(self, name):
            log("get", name)
            return object.__getattribute__(self, name)

        f = 1

    class Item:
        def __getitem__(self, key):
            log("item", key)
            if key == "g":
                raise KeyError(key)
            return 2

        def __getattr__(self, name):
            log("attr", name)
            raise AttributeError(name)

    schema = schema_of(ma, {name: ma.fields.Integer() for name in "fgh"})
    dotted = schema_of(ma, {"a": ma.fields.Raw(attribute="f.g.h")})
    for obj in (Watched(), Item()):
        for _ in range(3):
            log.attempt(schema.dump, obj)
            log.attempt(dotted.dump, obj)
            log.attempt(dotted.dump, {"f": obj})


def test_objects_whose_metaclass_hashes_and_compares(ma, log):
    class Meta(type):
        def __hash__(cls):
            log("hash")
            raise TypeError("no hash")

        def __eq__(cls, other):
            log("eq")
            raise TypeError("not comparable")

    class Plain(metaclass=Meta):
        f = 1
        g = "x"

    # What objects of libraries with readers of their own are told by.
    class Marked(Plain):
        _sa_class_manager = __pydantic_private__ = 1

    schema = schema_of(ma, {"f": ma.fields.Integer(), "g": ma.fields.Raw()})
    for obj in (Plain(), Marked(), {"f": 1, "g": Plain()}):
        log.attempt(schema.dumps, obj, default=lambda value: type(value).__name__)
        log.attempt(schema.dump, obj)
        log.attempt(schema.dump, [obj, Plain()], many=True)


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 100])
def test_counts_around_the_engines_thresholds(ma, log, count):
    schema = schema_of(ma, {"f": ma.fields.Integer(), "g": ma.fields.String()})
    return schema.dump([{"f": str(i), "g": i} for i in range(count)], many=True)


def test_a_cycle(ma, log):
    Node = ma.Schema.from_dict({"f": ma.fields.Integer(), "next": ma.fields.Nested(lambda: Node())})
    rows = {"f": 1}
    rows["next"] = rows
    log.attempt(Node().dump, rows)
