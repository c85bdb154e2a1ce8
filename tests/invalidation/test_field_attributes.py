"""A field's attributes change after its schema was used."""

import datetime as dt
import decimal  # noqa: F401
import enum
import ipaddress  # noqa: F401
import uuid  # noqa: F401

import pytest

from tests.conformance.material import Plain, schema_of
from tests.invalidation.usage import WAYS, changed, settle, use


class Colour(enum.Enum):
    RED = 1


MOMENT = dt.datetime(2024, 2, 29, 12, 30, 5, 250)


def _bound(ma, field):
    """A field with a name and a parent, as inner fields have them."""
    field._bind_to_schema("f", schema_of(ma, {}))
    return field


# A field, one of its attributes, the new value, and a value to dump. What is set once, and not in
# every way, is in conformance/test_mutations.py.
CHANGES = [
    "Integer() | attribute | 'g' | 1",
    "Raw() | attribute | 'p.q' | 1",
    "Raw() | attribute | 0 | 1",
    "Integer() | data_key | 'other' | 1",
    "Integer() | data_key | 5 | 1",
    "Integer() | data_key | [] | 1",
    "Integer(attribute='no') | dump_default | 7 | 1",
    "Integer(attribute='no', dump_default=3) | dump_default | ma.missing | 1",
    "Constant(3) | _CHECK_ATTRIBUTE | True | 1",
    "Integer() | as_string | True | 1",
    "Float() | as_string | 1 | 1.5",
    "Integer() | num_type | float | 1",
    "Decimal() | places | decimal.Decimal('0.1') | '1.25'",
    "Decimal(places=1) | rounding | decimal.ROUND_UP | decimal.Decimal('1.21')",
    "DateTime() | format | 'rfc' | MOMENT",
    "DateTime() | format | b'iso' | MOMENT",
    "DateTime() | DEFAULT_FORMAT | 'timestamp' | MOMENT",
    "Date() | SERIALIZATION_FUNCS | {'iso': lambda value: 'mine'} | MOMENT.date()",
    "TimeDelta() | precision | 'milliseconds' | dt.timedelta(seconds=1)",
    "TimeDelta() | precision | 'fortnights' | dt.timedelta(seconds=1)",
    "TimeDelta() | _unit_to_microseconds_mapping | {'seconds': 500000} | dt.timedelta(seconds=1)",
    "IPv6() | exploded | True | ipaddress.IPv6Address('::1')",
    "Enum(Colour, by_value=True) | field | ma.fields.String() | Colour.RED",
    "List(Raw()) | inner | None | [1]",
    (
        "Tuple([Raw(), Raw()]) | tuple_fields | [_bound(ma, ma.fields.String()), _bound(ma, "
        "ma.fields.Integer())] | (1, '2')"
    ),
    "Dict() | key_field | _bound(ma, ma.fields.String()) | {1: 2}",
    "Dict() | value_field | _bound(ma, ma.fields.String()) | {1: 2}",
    (
        "Integer() | serialize | lambda attr, obj, accessor=None, **kwargs: (attr, accessor(obj, "
        "'g', 0)) | 1"
    ),
    (
        "Integer() | get_value | lambda obj, attr, accessor=None, default=ma.missing: "
        "accessor(obj, 'g', 0) | 1"
    ),
    (
        "Integer() | _serialize | lambda value, attr, obj, **kwargs: ('mine', value, attr, "
        "sorted(kwargs)) | 1"
    ),
    "Integer() | _format_num | lambda value: -1 | 1",
    "Integer(as_string=True) | _to_string | lambda value: 'x' | 1",
    "Decimal(as_string=True) | _to_string | lambda value: 'x' | decimal.Decimal(1)",
    "UUID() | _validated | lambda value: 1 / 0 | uuid.UUID(int=7)",
    "Raw() | name | 'renamed' | 1",
    "Method() | parent | None | 1",
    "Raw() | note | 1 | 1",
]


def _objects(value):
    rest = {"g": 9, "h": 10, "p": {"q": 11}}
    return [{"f": value, **rest}, Plain(f=value, g=9, h=10, p=Plain(q=11)), {}]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("way", WAYS)
def test_set_and_put_back(ma, log, change, way):
    names = {**globals(), **vars(ma.fields), "ma": ma}
    made, name, value, obj = change.split(" | ")
    schema = schema_of(ma, {"f": eval(made, names), "h": ma.fields.Raw()})
    objects = _objects(eval(obj, names))
    settle(log, schema, *objects)
    new = eval(value, names)
    field = schema.fields["f"]
    if way == "mock" and not hasattr(field, name):
        field.__class__ = type("WithAttribute", (type(field),), {name: None})
    with changed(field, name, new, way):
        use(log, schema, *objects)
    use(log, schema, *objects)


@pytest.mark.parametrize("name", ["data_key", "attribute", "dump_default", "format"])
def test_deleted(ma, log, name):
    schema = schema_of(ma, {"f": ma.fields.DateTime(attribute="g", data_key="k")})
    settle(log, schema, {"g": MOMENT}, {})
    del vars(schema.fields["f"])[name]
    use(log, schema, {"g": MOMENT, "f": MOMENT}, {})


def test_emptied(ma, log):
    schema = schema_of(ma, {"f": ma.fields.Integer(), "h": ma.fields.Raw()})
    settle(log, schema, {"f": "1", "h": 2})
    vars(schema.fields["f"]).clear()
    use(log, schema, {"f": "1", "h": 2})


INSIDE = {
    "inner": ("fields.List(fields.Integer())", "f.inner", [1]),
    "key": ("fields.Dict(keys=fields.Integer())", "f.key_field", {1: 1}),
    "value": ("fields.Dict(values=fields.Integer())", "f.value_field", {1: 1}),
    "tuple": ("fields.Tuple([fields.Raw(), fields.Integer()])", "f.tuple_fields[1]", (1, 2)),
    "enum": ("fields.Enum(Colour, by_value=fields.Integer)", "f.field", Colour.RED),
}


@pytest.mark.parametrize("kind", INSIDE)
def test_a_field_inside_another(ma, log, kind):
    fields = ma.fields
    made, inner, value = INSIDE[kind]
    schema = schema_of(ma, {"f": eval(made, {**globals(), "fields": fields})})
    settle(log, schema, {"f": value})
    for change in (
        "inner.as_string = True",
        "inner._serialize = lambda value, attr, obj, **kwargs: (attr, value)",
        "inner.__class__ = fields.Float",
        "del vars(inner)['_serialize']",
    ):
        found = eval(inner, {"f": schema.fields["f"]})
        exec(change, {"fields": fields, "inner": found})
        use(log, schema, {"f": value})


def test_units_edited_in_place(ma, log):
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
def test_fields_that_stand_inside_themselves(ma, log, way):
    fields = ma.fields
    made = {"list": fields.List(fields.Integer()), "tuple": fields.Tuple((fields.Raw(),))}
    schema = ma.Schema.from_dict({"f": made.get(way) or fields.Dict(values=fields.Integer())})()
    field = schema.fields["f"]
    data = {"x": {"y": {}}}
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
