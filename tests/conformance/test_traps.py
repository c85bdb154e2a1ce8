"""Traps: what an accelerator is tempted to get wrong, one by one."""

import collections
import functools
from unittest import mock

import pytest

from tests.conformance.material import schema_of

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


ATTRIBUTES = [
    "many", "partial", "unknown", "fields", "load_fields", "dump_fields", "opts",
    "error_messages", "dict_class", "_hooks", "get_attribute", "handle_error", "only",
]  # fmt: skip


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("name", ATTRIBUTES)
def test_schema_attributes_computed_by_a_property(ma, log, name, late):
    watching = []
    answers = {
        "many": lambda stored: not stored,
        "dict_class": lambda stored: collections.OrderedDict,
        "get_attribute": lambda stored: lambda obj, attr, default: log("asked for", attr),
    }

    def get(self):
        if name in vars(self):
            value = vars(self)[name]
        else:
            value = getattr(ma.Schema, name)
            value = value.__get__(self) if hasattr(value, "__get__") else value
        if not watching:
            return value
        log("get", name)
        return answers.get(name, lambda stored: stored)(value)

    class S(ma.Schema):
        f = ma.fields.Integer()
        after = ma.post_load(log.hook("after"))

    def compute():
        setattr(S, name, property(get, lambda self, value: vars(self).update({name: value})))

    def use():
        for _ in range(3):
            log("dump")
            log.attempt(schema.dump, {"f": 1})
            log.attempt(schema.dump, {"f": 1}, many=False)
            log("load")
            log.attempt(schema.load, {"f": "x"})
            log.attempt(schema.load, {"f": "1"}, partial=True, unknown="include")
            log("many")
            log.attempt(schema.dump, [{"f": 1}] * 9, many=True)
            log.attempt(schema.load, [{"f": 1}] * 9, many=True)

    if not late:
        compute()
    schema = log.attempt(S)
    if isinstance(schema, Exception):
        return
    log("fields", list(schema.fields))
    if late:
        use()
        compute()
    watching.append(True)
    use()
    if late:
        delattr(S, name)
        use()


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
