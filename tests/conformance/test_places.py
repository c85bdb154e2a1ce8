"""Inline caches: a step reads each value right if it stands elsewhere than in the object before."""

import itertools
import json
from collections import OrderedDict
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pytest

from tests.conformance import material
from tests.conformance.material import schema_of, subclass, written

NAMES = ("a", "b", "c")


class Plain:
    """An instance whose values lie in the order in which it was given them."""

    def __init__(self, **attributes):
        for name, value in attributes.items():
            setattr(self, name, value)


class Slotted:
    __slots__ = NAMES
    __init__ = Plain.__init__


class HalfSlotted(Slotted):
    """It has slots and a dictionary."""


@dataclass
class WithDefaults:
    a: Any = 1
    b: Any = None
    c: Any = "class"


# The dictionary of a material.Plain was filled as a whole.
MAKERS = [dict, Plain, material.Plain, Slotted, HalfSlotted, WithDefaults]


def schema(ma, between=None):
    """Fields a, b, c; user code runs between a and b where it is given."""
    fields = {name: ma.fields.Raw() for name in ("a", "call", "b", "c")}
    if between is None:
        del fields["call"]
    else:
        fields["call"] = ma.fields.Function(lambda obj: between(obj))
    return schema_of(ma, fields)


def kinds(maker):
    """Objects that have some, all, more, or the names in another order."""
    objects = [
        maker(a=1, b=2, c=3), maker(a=4, b=5, c=6), maker(c=7, b=8, a=9), maker(b=10), maker(),
        maker(c=None, a=None, b=None),
    ]  # fmt: skip
    if maker not in (Slotted, WithDefaults):
        objects.append(maker(x=0, c=11, y=0, b=12, z=0, a=13))
        objects.append(maker(**{f"n{i}": i for i in range(40)}, a=14, b=15, c=16))
    return objects


@pytest.mark.parametrize("maker", MAKERS)
def test_orders(ma, log, maker):
    dump = schema(ma).dump
    for _ in range(3):
        log.attempt(dump, kinds(maker), many=True)
        log.attempt(dump, list(reversed(kinds(maker))), many=True)


def test_kinds_in_turn(ma, log):
    dump = schema(ma).dump
    objects = [obj for row in zip(*map(kinds, MAKERS), strict=False) for obj in row]
    for _ in range(5):
        log.attempt(dump, objects, many=True)


def test_orders_of_input(ma, log):
    load = schema(ma).load
    for _ in range(3):
        for row in kinds(dict):
            log.attempt(load, row)
            log.attempt(load, row, unknown="include")
        log.attempt(load, kinds(dict), many=True, unknown="exclude")


def parsed(rows):
    """The same with keys that are other texts, those of one document the same."""
    return json.loads(json.dumps(rows))


def test_keys_of_documents(ma, log):
    using = schema(ma)
    rows = [
        {"a": 1, "b": 2, "c": 3},
        {"c": 4, "b": 5, "a": 6},
        {"a": 7, "aa": 8, "b": 9},
        {"\xe4": 10, "\U0001f600": 11, "c": 12},
    ]
    for _ in range(40):
        for row in parsed(rows):
            log.attempt(using.load, row, unknown="include")
            log.attempt(using.dump, row)
        log.attempt(using.load, parsed(rows * 3), many=True, unknown="exclude")
        log.attempt(using.dump, parsed(rows * 3) + rows, many=True)


CHANGES_OF_ROWS = written(
    {}, "row",
    deleted='del row["b"]',
    put_back='row["b"] = row.pop("b")',
    number_as_key='row[1] = "one"',
    # The key is another object of the same text.
    equal_key='del row["b"]; row["".join(["", "b"])] = "equal"',
    number_key_gone='row[1] = "one"; del row[1]',
    cleared='row.clear(); row["c"] = 1',
    emptied="row.clear()",
    own_deleted='row.pop("a", None)',
    replaced='row["b"] = "replaced"',
)  # fmt: skip


@pytest.mark.parametrize("change", CHANGES_OF_ROWS)
def test_dictionaries_that_change(ma, log, change):
    change = CHANGES_OF_ROWS[change]
    for between in (None, change):
        using = schema(ma, between)
        log.attempt(using.dump, {"a": 1, "b": 2, "c": 3})
        row = {"a": 4, "b": 5, "c": 6}
        log.attempt(using.dump, row)
        change(row) if between is None else None
        log.attempt(using.dump, [row, {"a": 7, "b": 8, "c": 9}], many=True)
        log.attempt(schema(ma).load, row, unknown="include")


class Late:
    """A class attribute that becomes a data descriptor when its class gets ``__set__``."""

    def __get__(self, obj, cls):
        return "late"


class Described(ModuleType):
    """A module that describes an attribute where it stands in a class."""

    def __get__(self, obj, cls):
        return "described by a module"

    def __set__(self, obj, value):
        raise AttributeError("described by a module")


class Odd(dict):
    def __getitem__(self, key):
        return "asked"

    def __missing__(self, key):
        return "missing"


def asked(self, name):
    return f"asked for {name}" if name in NAMES else object.__getattribute__(self, name)


CHANGES = written(
    {"Late": Late, "Odd": Odd, "OrderedDict": OrderedDict, "asked": asked}, "obj, cls",
    data_descriptor='cls.b = property(lambda self: "described")',
    other_descriptor='cls.b = classmethod(lambda cls: "a method")',
    class_default='cls.b = "of the class"; obj.__dict__.pop("b", None)',
    late_descriptor="cls.b = Late(); Late.__set__ = lambda self, obj, value: None",
    getattribute="cls.__getattribute__ = asked",
    getattr_for_missing='cls.__getattr__ = lambda self, name: f"missing {name}"; del obj.b',
    getitem='cls.__getitem__ = lambda self, name: f"item {name}"',
    getitem_of_the_instance='obj.__getitem__ = lambda name: f"item {name}"',
    deleted_attribute='obj.__dict__.pop("b", None)',
    other_dictionary='obj.__dict__ = {"c": "new", "b": "new"}',
    odd_dictionary='obj.__dict__ = Odd(b="odd")',
    ordered_dictionary='obj.__dict__ = OrderedDict(b="ordered")',
    other_class='obj.__class__ = type("Other", (), {"c": "of the other class"})',
    base_changed='cls.__mro__[1].b = property(lambda self: "of the base")',
)  # fmt: skip
CHANGES_OF_SLOTS = written(
    {}, "obj, cls",
    deleted="del obj.b",
    hidden='cls.b = property(lambda self: "described")',
    of_another='cls.b = type("Other", (), {"__slots__": ("b",)}).b',
    under_another_name="cls.b = cls.__mro__[1].c",
)  # fmt: skip


class Comparing(str):
    """A name in a class that runs user code where it is compared."""

    __slots__ = ("when_compared",)
    __hash__ = str.__hash__

    def __eq__(self, other):
        self.when_compared()
        return str.__eq__(self, other)


@pytest.mark.parametrize(
    ("change", "base"),
    [
        *itertools.product(CHANGES, [Plain, material.Plain]),
        *itertools.product(CHANGES_OF_SLOTS, [Slotted]),
    ],
)
def test_objects_and_classes_that_change(ma, log, change, base):
    changes = CHANGES_OF_SLOTS if base is Slotted else CHANGES
    for between in (False, True):
        middle = base if base is Slotted else subclass(base)
        cls = type("Changing", (middle,), {"__slots__": ()} if base is Slotted else {})
        objects = [cls(a=i, b=i + 1, c=i + 2) for i in range(4)]
        log.attempt(schema(ma).dump, objects, many=True)
        due = [objects[1]]

        def change_it(obj):
            if obj in due:  # noqa: B023
                changes[change](due.pop(), type(obj))  # noqa: B023

        using = schema(ma, change_it if between else lambda obj: None)
        log.attempt(using.dump, objects[0])
        if not between:
            change_it(objects[1])
        log.attempt(using.dump, objects, many=True)
        log.attempt(using.dump, objects, many=True)
        vars(Late).get("__set__") and delattr(Late, "__set__")


def test_module_in_a_class_becomes_a_descriptor(ma, log):
    module = ModuleType("b")
    cls = type("WithModule", (Plain,), {"b": module})
    objects = [cls(a=i, b=i + 1, c=i + 2) for i in range(3)]
    dump = schema(ma).dump
    log.attempt(dump, objects, many=True)
    module.__class__ = Described
    log.attempt(dump, objects, many=True)


def test_class_that_changes_while_a_name_is_looked_up(ma, log):
    for change in ("data_descriptor", "getitem", "getattribute", "other_class"):
        name = Comparing("b")
        name.when_compared = lambda: None
        cls = type("Comparing", (type("Base", (Plain,), {name: None}),), {})
        objects = [cls(a=i, b=i + 1, c=i + 2) for i in range(3)]
        due = [objects[1]]
        name.when_compared = lambda: due and CHANGES[change](due[0], type(due.pop()))  # noqa: B023
        using = schema(ma)
        for some in (objects[:1], objects, objects):
            # What CPython remembers of the look-up that was disturbed is wrong, and how long it
            # does is chance.
            type.__setattr__(cls, "other", None)
            log.attempt(using.dump, some, many=True)


def test_slot_of_another_put_there_while_it_is_read(ma, log):
    other = type("Other", (), {"__slots__": ("far", "b")}).b

    class Turning:
        @property
        def b(self):
            Turning.b = other
            return "described"

    dump = schema(ma).dump
    objects = [Turning() for _ in range(3)]
    for obj in objects:
        log.attempt(dump, obj)


def test_input_that_changes_while_it_is_loaded(ma, log):
    for change in CHANGES_OF_ROWS.values():

        class Changing(ma.fields.Raw):
            def _deserialize(self, value, attr, data, **kwargs):
                change(data)  # noqa: B023
                return value

        plain = schema(ma)
        changing = schema_of(
            ma, {"a": Changing(), "b": ma.fields.Raw(), "c": ma.fields.Raw(required=True)}
        )
        for unknown in ("raise", "include", "exclude"):
            rows = [{"a": i, "b": 2, "c": 3} for i in range(3)]
            log.attempt(plain.load, rows, many=True, unknown=unknown)
            log.attempt(changing.load, rows, many=True, unknown=unknown)
            for row in ({"a": 1}, {"c": 3, "b": 2, "a": 1}, {"a": 1, "b": 2, "z": 3}) * 2:
                log.attempt(changing.load, log.watch(dict(row)), unknown=unknown)
            log("rows", rows)
