"""Containers of other classes in ``Tuple`` and ``Dict``, and a schema class's own dictionaries."""

import collections
from typing import Any

import pytest


class Recorded(dict):
    """Says what is done with it."""

    seen: list[Any] = []

    def __setitem__(self, key, value):
        self.seen.append((key, value))
        super().__setitem__(key, value)


class Read(collections.OrderedDict):
    """Reading it, as a copy of it does, is seen."""

    def __getitem__(self, key):
        Recorded.seen.append(("get", key))
        return super().__getitem__(key)


class Reversed(dict):
    def items(self):
        return reversed(list(super().items()))

    def __iter__(self):
        return reversed(list(super().__iter__()))


class Empty(dict):
    def __bool__(self):
        return False

    def __len__(self):
        return 0


CLASSES = {
    "plain": type("Own", (dict,), {}),
    "recorded": Recorded,
    "reversed": Reversed,
    "empty": Empty,
    "ordered": type("OwnOrdered", (collections.OrderedDict,), {}),
    "ordered and read": Read,
    "default": lambda: collections.defaultdict(list),
    "mapping": collections.UserDict,
}


@pytest.mark.parametrize("kind", CLASSES)
def test_an_own_class_of_dictionaries(ma, log, kind):
    class S(ma.Schema):
        dict_class = (
            CLASSES[kind] if isinstance(CLASSES[kind], type) else staticmethod(CLASSES[kind])
        )
        a = ma.fields.Integer()
        b = ma.fields.String(attribute="x.y")
        n = ma.fields.Nested(lambda: ma.Schema.from_dict({"c": ma.fields.Integer()}))

    Recorded.seen = []
    for schema in (S(), S(many=True), S(only=("b", "a"))):
        for obj in ({"a": "1", "x": {"y": 2}, "n": {"c": "3"}}, {"a": "x"}, {}):
            log.attempt(schema.dump, obj, many=False)
            log.attempt(schema.dump, [obj, obj], many=True)
        for data in ({"a": "1", "b": "2", "n": {"c": "3"}}, {"a": "x", "z": 3}, {}):
            for unknown in ("raise", "include", "exclude"):
                made = log.attempt(schema.load, data, many=False, unknown=unknown)
                log("type", type(made).__name__)
            log.attempt(schema.validate, [data, data], many=True)
        log("type", type(schema.fields).__name__, list(schema.fields))
    log("seen", Recorded.seen)


@pytest.mark.parametrize("base", [dict, collections.OrderedDict])
def test_the_class_of_dictionaries_changes(ma, log, base):
    class Own(base):
        pass

    class S(ma.Schema):
        dict_class = Own
        a = ma.fields.Integer()
        b = ma.fields.Integer()

    schema = S()
    for change in (
        lambda: None,
        lambda: setattr(Own, "items", lambda self: [("a", self["a"])]),
        lambda: delattr(Own, "items"),
        lambda: [
            fields.update(a=fields.pop("a")) for fields in (schema.dump_fields, schema.load_fields)
        ],
        lambda: schema.dump_fields.pop("b"),
        lambda: schema.load_fields.clear(),
        lambda: setattr(S, "dict_class", collections.OrderedDict),
    ):
        change()
        for _ in range(2):
            for call in (schema.dump, schema.load):
                made = log.attempt(call, {"a": "1", "b": "2"})
                log("type", type(made).__name__)
