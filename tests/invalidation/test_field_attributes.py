"""A field's attributes change after its schema was used."""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import ipaddress
import uuid
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from tests.conformance.material import Plain, schema_of
from tests.invalidation.usage import WAYS, changed, scenario, settle, use


class Colour(enum.Enum):
    RED = 1


class Shade(enum.Enum):
    DARK = "d"


class Change(NamedTuple):
    """A field, one of its attributes, the new value, and a value to dump."""

    field: Callable[[Any], Any]
    name: str
    value: Callable[[Any], Any]
    obj: Any


MOMENT = dt.datetime(2024, 2, 29, 12, 30, 5, 250)


def _bound(ma: Any, field: Any) -> Any:
    """A field with a name and a parent, as inner fields have them."""
    field._bind_to_schema("f", schema_of(ma, {}))
    return field


CHANGES = {
    "attribute": Change(lambda ma: ma.fields.Integer(), "attribute", lambda ma: "g", 1),
    "attribute, dotted": Change(lambda ma: ma.fields.Raw(), "attribute", lambda ma: "p.q", 1),
    "attribute, to none": Change(
        lambda ma: ma.fields.Raw(attribute="g"), "attribute", lambda ma: None, 1
    ),
    "attribute, a number": Change(lambda ma: ma.fields.Raw(), "attribute", lambda ma: 0, 1),
    "data_key": Change(lambda ma: ma.fields.Integer(), "data_key", lambda ma: "other", 1),
    "data_key, taken": Change(lambda ma: ma.fields.Integer(), "data_key", lambda ma: "h", 1),
    "data_key, a number": Change(lambda ma: ma.fields.Integer(), "data_key", lambda ma: 5, 1),
    "data_key, unhashable": Change(lambda ma: ma.fields.Integer(), "data_key", lambda ma: [], 1),
    "dump_default": Change(
        lambda ma: ma.fields.Integer(attribute="no"), "dump_default", lambda ma: 7, 1
    ),
    "dump_default, callable": Change(
        lambda ma: ma.fields.Integer(attribute="no"), "dump_default", lambda ma: lambda: 8, 1
    ),
    "dump_default, to missing": Change(
        lambda ma: ma.fields.Integer(attribute="no", dump_default=3),
        "dump_default",
        lambda ma: ma.missing,
        1,
    ),
    "_CHECK_ATTRIBUTE": Change(lambda ma: ma.fields.Raw(), "_CHECK_ATTRIBUTE", lambda ma: False, 1),
    "_CHECK_ATTRIBUTE, of a constant": Change(
        lambda ma: ma.fields.Constant(3), "_CHECK_ATTRIBUTE", lambda ma: True, 1
    ),
    "as_string": Change(lambda ma: ma.fields.Integer(), "as_string", lambda ma: True, 1),
    "as_string, of a float": Change(lambda ma: ma.fields.Float(), "as_string", lambda ma: 1, 1.5),
    "num_type": Change(lambda ma: ma.fields.Integer(), "num_type", lambda ma: float, 1),
    "places": Change(
        lambda ma: ma.fields.Decimal(), "places", lambda ma: decimal.Decimal("0.1"), "1.25"
    ),
    "rounding": Change(
        lambda ma: ma.fields.Decimal(places=1),
        "rounding",
        lambda ma: decimal.ROUND_UP,
        decimal.Decimal("1.21"),
    ),
    "allow_nan": Change(
        lambda ma: ma.fields.Decimal(), "allow_nan", lambda ma: True, decimal.Decimal("-NaN12")
    ),
    "format": Change(lambda ma: ma.fields.DateTime(), "format", lambda ma: "%Y", MOMENT),
    "format, rfc": Change(lambda ma: ma.fields.DateTime(), "format", lambda ma: "rfc", MOMENT),
    "format, bytes": Change(lambda ma: ma.fields.DateTime(), "format", lambda ma: b"iso", MOMENT),
    "DEFAULT_FORMAT": Change(
        lambda ma: ma.fields.DateTime(), "DEFAULT_FORMAT", lambda ma: "timestamp", MOMENT
    ),
    "SERIALIZATION_FUNCS": Change(
        lambda ma: ma.fields.Date(),
        "SERIALIZATION_FUNCS",
        lambda ma: {"iso": lambda value: "mine"},
        MOMENT.date(),
    ),
    "precision": Change(
        lambda ma: ma.fields.TimeDelta(),
        "precision",
        lambda ma: "milliseconds",
        dt.timedelta(seconds=1),
    ),
    "precision, unknown": Change(
        lambda ma: ma.fields.TimeDelta(),
        "precision",
        lambda ma: "fortnights",
        dt.timedelta(seconds=1),
    ),
    "_unit_to_microseconds_mapping": Change(
        lambda ma: ma.fields.TimeDelta(),
        "_unit_to_microseconds_mapping",
        lambda ma: {"seconds": 500_000},
        dt.timedelta(seconds=1),
    ),
    "exploded": Change(
        lambda ma: ma.fields.IPv6(), "exploded", lambda ma: True, ipaddress.IPv6Address("::1")
    ),
    "by_value": Change(lambda ma: ma.fields.Enum(Colour), "by_value", lambda ma: True, Colour.RED),
    "by_value's field": Change(
        lambda ma: ma.fields.Enum(Colour, by_value=True),
        "field",
        lambda ma: ma.fields.String(),
        Colour.RED,
    ),
    "enum": Change(lambda ma: ma.fields.Enum(Colour), "enum", lambda ma: Shade, Shade.DARK),
    "inner": Change(
        lambda ma: ma.fields.List(ma.fields.Raw()),
        "inner",
        lambda ma: _bound(ma, ma.fields.String()),
        [1, 2],
    ),
    "inner, no field": Change(
        lambda ma: ma.fields.List(ma.fields.Raw()), "inner", lambda ma: None, [1]
    ),
    "tuple_fields": Change(
        lambda ma: ma.fields.Tuple([ma.fields.Raw(), ma.fields.Raw()]),
        "tuple_fields",
        lambda ma: [_bound(ma, ma.fields.String()), _bound(ma, ma.fields.Integer())],
        (1, "2"),
    ),
    "key_field": Change(
        lambda ma: ma.fields.Dict(), "key_field", lambda ma: _bound(ma, ma.fields.String()), {1: 2}
    ),
    "key_field, gone": Change(
        lambda ma: ma.fields.Dict(keys=ma.fields.String()), "key_field", lambda ma: None, {1: 2}
    ),
    "value_field": Change(
        lambda ma: ma.fields.Dict(),
        "value_field",
        lambda ma: _bound(ma, ma.fields.String()),
        {1: 2},
    ),
    "mapping_type": Change(
        lambda ma: ma.fields.Dict(keys=ma.fields.String()),
        "mapping_type",
        lambda ma: OrderedDict,
        {1: 2},
    ),
    "constant": Change(lambda ma: ma.fields.Constant(1), "constant", lambda ma: 2, 1),
    "serialize_func": Change(
        lambda ma: ma.fields.Function(lambda obj: 1),
        "serialize_func",
        lambda ma: lambda obj: 2,
        1,
    ),
    "serialize_func, gone": Change(
        lambda ma: ma.fields.Function(lambda obj: 1), "serialize_func", lambda ma: None, 1
    ),
    "_serialize_method": Change(
        lambda ma: ma.fields.Method(), "_serialize_method", lambda ma: lambda obj: 2, 1
    ),
    "serialize": Change(
        lambda ma: ma.fields.Integer(),
        "serialize",
        lambda ma: lambda attr, obj, accessor=None, **kwargs: (attr, accessor(obj, "g", 0)),
        1,
    ),
    "get_value": Change(
        lambda ma: ma.fields.Integer(),
        "get_value",
        lambda ma: lambda obj, attr, accessor=None, default=ma.missing: accessor(obj, "g", 0),
        1,
    ),
    "_serialize": Change(
        lambda ma: ma.fields.Integer(),
        "_serialize",
        lambda ma: lambda value, attr, obj, **kwargs: ("mine", value, attr, sorted(kwargs)),
        1,
    ),
    "_format_num": Change(
        lambda ma: ma.fields.Integer(), "_format_num", lambda ma: lambda value: -1, 1
    ),
    "_to_string": Change(
        lambda ma: ma.fields.Integer(as_string=True), "_to_string", lambda ma: lambda value: "x", 1
    ),
    "_to_string, of a decimal": Change(
        lambda ma: ma.fields.Decimal(as_string=True),
        "_to_string",
        lambda ma: lambda value: "x",
        decimal.Decimal(1),
    ),
    "_validated": Change(
        lambda ma: ma.fields.UUID(),
        "_validated",
        lambda ma: lambda value: 1 / 0,
        uuid.UUID(int=7),
    ),
    "name": Change(lambda ma: ma.fields.Raw(), "name", lambda ma: "renamed", 1),
    "parent": Change(lambda ma: ma.fields.Method(), "parent", lambda ma: None, 1),
    "load_only": Change(lambda ma: ma.fields.Raw(), "load_only", lambda ma: True, 1),
    "an attribute of the user's": Change(lambda ma: ma.fields.Raw(), "note", lambda ma: 1, 1),
}


def _objects(value: Any) -> list[Any]:
    rest = {"g": 9, "h": 10, "p": {"q": 11}}
    return [{"f": value, **rest}, Plain(f=value, g=9, h=10, p=Plain(q=11)), {}]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("way", WAYS)
@scenario
def test_set_and_put_back(ma: Any, log: Any, change: str, way: str) -> None:
    make, name, value, obj = CHANGES[change]
    schema = schema_of(ma, {"f": make(ma), "h": ma.fields.Raw()})
    objects = _objects(obj)
    settle(log, schema, *objects)
    new = value(ma)
    field = schema.fields["f"]
    if way == "mock" and not hasattr(field, name):
        field.__class__ = type("WithAttribute", (type(field),), {name: None})
    with changed(field, name, new, way):
        use(log, schema, *objects)
    use(log, schema, *objects)


@pytest.mark.parametrize("name", ["data_key", "attribute", "dump_default", "format"])
@scenario
def test_deleted(ma: Any, log: Any, name: str) -> None:
    schema = schema_of(ma, {"f": ma.fields.DateTime(attribute="g", data_key="k")})
    settle(log, schema, {"g": MOMENT}, {})
    del vars(schema.fields["f"])[name]
    use(log, schema, {"g": MOMENT, "f": MOMENT}, {})


@scenario
def test_emptied(ma: Any, log: Any) -> None:
    schema = schema_of(ma, {"f": ma.fields.Integer(), "h": ma.fields.Raw()})
    settle(log, schema, {"f": "1", "h": 2})
    vars(schema.fields["f"]).clear()
    use(log, schema, {"f": "1", "h": 2})


@pytest.mark.parametrize("kind", ["inner", "key", "value", "tuple", "enum"])
@scenario
def test_a_field_inside_another(ma: Any, log: Any, kind: str) -> None:
    fields = ma.fields
    field, inner, value = {
        "inner": lambda: _with(fields.List(fields.Integer()), lambda f: f.inner, [1]),
        "key": lambda: _with(fields.Dict(keys=fields.Integer()), lambda f: f.key_field, {1: 1}),
        "value": lambda: _with(
            fields.Dict(values=fields.Integer()), lambda f: f.value_field, {1: 1}
        ),
        "tuple": lambda: _with(
            fields.Tuple([fields.Raw(), fields.Integer()]), lambda f: f.tuple_fields[1], (1, 2)
        ),
        "enum": lambda: _with(
            fields.Enum(Colour, by_value=fields.Integer), lambda f: f.field, Colour.RED
        ),
    }[kind]()
    schema = schema_of(ma, {"f": field})
    settle(log, schema, {"f": value})
    inner(schema.fields["f"]).as_string = True
    use(log, schema, {"f": value})
    inner(schema.fields["f"])._serialize = lambda value, attr, obj, **kwargs: (attr, value)
    use(log, schema, {"f": value})
    inner(schema.fields["f"]).__class__ = fields.Float
    use(log, schema, {"f": value})
    del vars(inner(schema.fields["f"]))["_serialize"]
    use(log, schema, {"f": value})


def _with(field: Any, inner: Callable[[Any], Any], value: Any) -> tuple[Any, Any, Any]:
    return field, inner, value


@scenario
def test_tuple_fields_edited_in_place(ma: Any, log: Any) -> None:
    schema = schema_of(ma, {"f": ma.fields.Tuple([ma.fields.Raw(), ma.fields.Raw()])})
    settle(log, schema, {"f": (1, 2)})
    fields = schema.fields["f"].tuple_fields
    fields[1] = _bound(ma, ma.fields.String())
    use(log, schema, {"f": (1, 2)})
    fields.reverse()
    use(log, schema, {"f": (1, 2)})
    fields.pop()
    use(log, schema, {"f": (1, 2)})
    fields.clear()
    use(log, schema, {"f": (1, 2)})


@pytest.mark.parametrize("edit", ["set", "delete", "clear", "falsy"])
@scenario
def test_formatting_functions_edited_in_place(ma: Any, log: Any, edit: str) -> None:
    class Own(ma.fields.DateTime):
        SERIALIZATION_FUNCS = dict(ma.fields.DateTime.SERIALIZATION_FUNCS)

    schema = schema_of(ma, {"f": Own(), "g": ma.fields.DateTime(format="rfc")})
    data = {"f": MOMENT, "g": MOMENT}
    settle(log, schema, data)
    functions = Own.SERIALIZATION_FUNCS
    if edit == "set":
        functions["iso"] = lambda value: "mine"
    elif edit == "delete":
        del functions["iso"]
    elif edit == "falsy":
        functions["iso"] = None
    else:
        functions.clear()
    use(log, schema, data)


@scenario
def test_upstreams_formatting_functions_edited_and_restored(ma: Any, log: Any) -> None:
    schema = schema_of(ma, {"f": ma.fields.DateTime(), "g": ma.fields.Time()})
    data = {"f": MOMENT, "g": MOMENT.time()}
    settle(log, schema, data)
    functions = ma.fields.DateTime.SERIALIZATION_FUNCS
    saved = dict(functions)
    try:
        functions["iso"] = log.spy("format", lambda value: "mine")
        use(log, schema, data)
    finally:
        functions.update(saved)
    use(log, schema, data)


@scenario
def test_units_edited_in_place(ma: Any, log: Any) -> None:
    class Own(ma.fields.TimeDelta):
        _unit_to_microseconds_mapping = dict(ma.fields.TimeDelta._unit_to_microseconds_mapping)

    schema = schema_of(ma, {"f": Own()})
    data = {"f": dt.timedelta(seconds=3, microseconds=5)}
    settle(log, schema, data)
    for unit in (3, 2**60, -1, 2.5, True, 0, "text"):
        Own._unit_to_microseconds_mapping["seconds"] = unit
        use(log, schema, data)
    del Own._unit_to_microseconds_mapping["seconds"]
    use(log, schema, data)


@pytest.mark.parametrize("way", ["values", "keys", "list", "tuple", "each other", "deep"])
@scenario
def test_fields_that_stand_inside_themselves(ma: Any, log: Any, way: str) -> None:
    fields = ma.fields
    made: dict[str, Any] = {
        "list": fields.List(fields.Integer()),
        "tuple": fields.Tuple((fields.Raw(),)),
    }
    schema = ma.Schema.from_dict({"f": made.get(way) or fields.Dict(values=fields.Integer())})()
    field = schema.fields["f"]
    data: Any = {"x": {"y": {}}}
    if way == "values":
        field.value_field = field
    elif way == "keys":
        field.key_field, data = field, {}
    elif way == "list":
        field.inner, data = field, [[[], []]]
    elif way == "tuple":
        field.tuple_fields, data = [field], [["x"]]
    elif way == "each other":
        field.value_field.value_field = field
        field.value_field, field.value_field.key_field = fields.Dict(values=field), None
    else:
        for _ in range(2000):
            field.value_field = fields.Dict(values=field.value_field)
    for _ in range(4):
        log.attempt(schema.dump, {"f": data})
        log.attempt(schema.load, {"f": data})
