"""Traps: what an accelerator is tempted to get wrong, one by one."""

import collections
import functools
from unittest import mock

import pytest

from tests.conformance.material import schema_of, written

METHODS = {
    "staticmethod": lambda f: staticmethod(f),
    "classmethod": lambda f: classmethod(f),
    "partialmethod": lambda f: functools.partialmethod(f),
    "partial": lambda f: functools.partial(f, None),
    "lru_cache": lambda f: functools.lru_cache(lambda self, *args: f(self, *args)),
    "mock": lambda f: mock.Mock(side_effect=f),
    "property": lambda f: property(lambda self: functools.partial(f, self)),
    "callable": lambda f: type("C", (), {"__call__": lambda self, *args, **kw: f(None, *args)})(),
    "builtin": lambda f: repr,
    "none": lambda f: None,
}


@pytest.mark.parametrize("name", ["_serialize", "serialize", "_deserialize", "deserialize"])
@pytest.mark.parametrize("kind", METHODS)
def test_methods_that_are_no_functions(ma, log, kind, name):
    def function(self, value=None, *args, **kwargs):
        log("called", type(self).__name__, value if isinstance(value, str) else None)
        return "result"

    class Own(ma.fields.String):
        pass

    schema = schema_of(ma, {"f": Own(), "g": ma.fields.List(Own())})
    log.attempt(schema.dump, {"f": "x", "g": ["y"]})
    setattr(Own, name, METHODS[kind](function))
    for _ in range(2):
        log.attempt(schema.dump, {"f": "x", "g": ["y"]})
        log.attempt(schema.load, {"f": "x", "g": ["y"]})


CHANGES = written(
    {"OrderedDict": collections.OrderedDict}, "ma, schema, f",
    data_key='f["f"].data_key = "F"',
    required='f["g"].required = True',
    dump_fields='schema.dump_fields.pop("g", None)',
    load_fields='schema.load_fields.pop("g", None)',
    replaced="schema.dump_fields.update(f=ma.fields.Constant(9))",
    unknown='schema.unknown = "include"',
    partial="schema.partial = True",
    many="schema.many = True",
    nested='f["n"].schema.fields["x"].data_key = "X"',
    get_attribute="schema.get_attribute = lambda obj, attr, default: attr",
    of_class='type(f["f"])._serialize = lambda self, *args, **kwargs: "changed"',
    dict_class="schema.dict_class = OrderedDict",
    validators='f["f"].validators.append(ma.validate.Range(min=50))',
    serialize='schema._serialize = lambda obj, *, many: ["serialized", many]',
)  # fmt: skip


@pytest.mark.parametrize("pass_collection", [True, False])
@pytest.mark.parametrize("change", CHANGES)
def test_a_hook_that_changes_the_schema_before_the_work(ma, log, change, pass_collection):
    """What people do: a ``pre_load`` makes a field required, or swaps one."""

    class Own(ma.fields.Integer):
        pass

    class S(ma.Schema):
        f = Own()
        g = ma.fields.Raw()
        n = ma.fields.Nested({"x": ma.fields.Raw()})

        @ma.pre_dump(pass_collection=pass_collection)
        @ma.pre_load(pass_collection=pass_collection)
        def before(self, data, **kwargs):
            if switch:
                CHANGES[change](ma, self, self.fields)
            return data

        after = ma.post_dump(ma.post_load(log.hook("after")))

    for many in (False, True):
        for work in ("dump", "load"):
            switch = []
            schema = S()
            row = {"f": "1", "n": {"x": 1}}
            for _ in range(3):
                log.attempt(getattr(schema, work), [row, row] if many else row, many=many)
            switch.append(True)
            for _ in range(2):
                log.attempt(getattr(schema, work), [row, row] if many else row, many=many)


ATTRIBUTES = [
    "many", "partial", "unknown", "fields", "load_fields", "dump_fields", "opts",
    "error_messages", "dict_class", "_hooks", "get_attribute", "handle_error", "only",
]  # fmt: skip


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_schema_attributes_computed_by_a_property(ma, log, name):
    watching = []
    stored = {}

    def get(self):
        if watching:
            log("get", name)
        if id(self) in stored:
            return stored[id(self)]
        value = getattr(ma.Schema, name)
        return value.__get__(self) if hasattr(value, "__get__") else value

    def set_(self, value):
        stored[id(self)] = value

    class Base(ma.Schema):
        f = ma.fields.Integer()

        @ma.post_load
        def after(self, data, **kwargs):
            return data

    cls = type("S", (Base,), {})
    setattr(cls, name, property(get, set_))
    schema = log.attempt(cls)
    if isinstance(schema, Exception):
        return
    watching.append(True)
    for _ in range(3):
        log("dump")
        log.attempt(schema.dump, {"f": 1})
        log("load")
        log.attempt(schema.load, {"f": "x"})
        log.attempt(schema.load, {"f": "1"}, partial=True, unknown="include")
        log("many")
        log.attempt(schema.dump, [{"f": 1}] * 9, many=True)
        log.attempt(schema.load, [{"f": 1}] * 9, many=True)


@pytest.mark.parametrize("choices", ["list", "tuple", "set", "text", "dict", "iterator", "hostile"])
def test_choices(ma, log, choices):
    class Hostile(list):
        def __contains__(self, item):
            # It is not logged: OneOf asks again to make the message.
            if item == "raise":
                raise TypeError("contains")
            if item == "other":
                raise ValueError("contains")
            return item == "a"

    made = {
        "list": lambda: ["a", "b"],
        "tuple": lambda: ("a", 1),
        "set": lambda: {"a"},
        "text": lambda: "abc",
        "dict": lambda: {"a": 1},
        "iterator": lambda: iter(["a", "b", "c"]),
        "hostile": lambda: Hostile(["a"]),
    }[choices]
    for kind in ("OneOf", "NoneOf", "ContainsOnly", "ContainsNoneOf"):
        field = log.attempt(lambda: ma.fields.Raw(validate=getattr(ma.validate, kind)(made())))  # noqa: B023
        if isinstance(field, Exception):
            continue
        schema = schema_of(ma, {"f": field})
        for value in ("a", "b", "", "raise", "other", 1, [], {}, None, "a"):
            log.attempt(schema.load, {"f": value})


def test_a_type_changed_very_often(ma, log):
    """CPython stops giving version tags to a type that changes a thousand times."""

    class Own(ma.fields.Integer):
        pass

    schema = schema_of(ma, {"f": Own()})
    for number in range(1500):
        Own.marker = number
        if number % 100 == 0:
            log.attempt(schema.dump, {"f": number})
            log.attempt(schema.load, {"f": number})
    Own._serialize = lambda self, value, *args, **kwargs: ("own", value)
    Own._deserialize = Own._serialize
    log.attempt(schema.dump, {"f": 1})
    log.attempt(schema.load, {"f": 1})
    Own._serialize = lambda self, value, *args, **kwargs: ("again", value)
    log.attempt(schema.dump, {"f": 1})
