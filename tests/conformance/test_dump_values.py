"""Every field class, with each option, given every value: what comes out of ``dump``."""

import decimal
import uuid

import pytest

from tests.conformance.harness import table
from tests.conformance.material import FIELDS, VALUES, Plain, schema_of


@pytest.mark.parametrize("kind", FIELDS)
@table
def test_each_value(ma, log, kind):
    schema = schema_of(ma, {"f": FIELDS[kind](ma)})
    for name, make in VALUES.items():
        value = make()
        log(name)
        log.attempt(schema.dump, {"f": value})
        log("afterwards", value)


DECIMALS = [
    "1.25", "1.2", "1", "-0.00", "0", "-0.005", "100.00", "1E+2", "1E-9", "1.2E+5", "0.0000001",
    "NaN", "99.995", "-sNaN12", "-Infinity", "12345678901234567890123456.78", f"{'1' * 29}.01",
]  # fmt: skip


@pytest.mark.parametrize("places", [0, 2, 4, 7, -1])
@pytest.mark.parametrize("rounding", [None, decimal.ROUND_UP, "no rounding"])
def test_decimals_of_a_number_of_places(ma, log, places, rounding):
    schema = schema_of(ma, {"f": ma.fields.Decimal(places, rounding, as_string=True)})
    for options in ({}, {"prec": 7}, {"prec": 4, "capitals": 0}, {"traps": [decimal.Inexact]}):
        with decimal.localcontext(decimal.Context(**options)) as used:
            for text in DECIMALS:
                log(text, log.attempt(schema.dump, {"f": decimal.Decimal(text)}))
                log.attempt(schema.load, {"f": text})
        log("flags", sorted(flag.__name__ for flag, is_set in used.flags.items() if is_set))


@pytest.mark.parametrize("kind", FIELDS)
@table
def test_absent(ma, log, kind):
    schema = schema_of(ma, {"f": FIELDS[kind](ma)})
    for obj in ({}, Plain(), None, [], "text", 3):
        log.attempt(schema.dump, obj)
        log.attempt(schema.dump, [obj], many=True)
    log.attempt(schema.dump, None, many=True)


@pytest.mark.parametrize("kind", FIELDS)
@table
def test_the_missing_value_itself(ma, log, kind):
    schema = schema_of(ma, {"f": FIELDS[kind](ma)})
    log.attempt(schema.dump, {"f": ma.missing})
    log.attempt(schema.dump, Plain(f=ma.missing))


HOLDERS = {
    "list": (lambda ma, field: ma.fields.List(field), lambda make: [None, make(), make()]),
    "dict": (lambda ma, field: ma.fields.Dict(values=field), lambda make: {"a": make(), "b": None}),
    "tuple": (
        lambda ma, field: ma.fields.Tuple([field, field]),
        lambda make: (make(), 1),
    ),
    "keys": (lambda ma, field: ma.fields.Dict(keys=field), lambda make: {make(): 1, "x": 2}),
    "object": (lambda ma, field: field, lambda make: make()),
}


@pytest.mark.parametrize("holder", HOLDERS)
@pytest.mark.parametrize("kind", FIELDS)
@table
def test_each_value_inside(ma, log, kind, holder):
    hold, fill = HOLDERS[holder]
    schema = schema_of(ma, {"e": ma.fields.Raw(), "f": hold(ma, FIELDS[kind](ma))}, many=True)
    for name, make in VALUES.items():
        log(name)
        try:
            value = fill(make)
        except Exception:  # It cannot be a key.
            continue
        log.attempt(schema.dump, [Plain(e=1), Plain(e=2, f=value), Plain(f=fill(make))])
        log("afterwards", value)


@pytest.mark.parametrize("default", ["value", "callable", "none", "missing", "class", "raises"])
@pytest.mark.parametrize("kind", ["string", "integer", "raw", "list-int", "nested", "function"])
def test_dump_default(ma, log, kind, default):
    field = FIELDS[kind](ma)
    field.dump_default = {
        "value": 7,
        "callable": log.spy("default", lambda: [3]),
        "none": None,
        "missing": ma.missing,
        "class": list,
        "raises": lambda: 1 / 0,
    }[default]
    schema = schema_of(ma, {"f": field})
    for obj in ({}, {"f": 1}, {"f": None}, Plain(), Plain(f=ma.missing)):
        log.attempt(schema.dump, obj)
        log.attempt(schema.dump, [obj, {}], many=True)


def test_a_default_that_returns_missing(ma, log):
    schema = schema_of(ma, {"f": ma.fields.Integer(dump_default=lambda: ma.missing)})
    log.attempt(schema.dump, {})


def test_the_default_object_is_passed_on(ma, log):
    default = log.watch([1])
    schema = schema_of(ma, {"f": ma.fields.Raw(dump_default=default)})
    return [schema.dump({}), schema.dump({})]


@pytest.mark.parametrize("order", ["f g h", "h g f", "g h f"])
def test_key_order(ma, log, order):
    fields = {name: ma.fields.Raw() for name in order.split()}
    schema = schema_of(ma, fields)
    return [schema.dump({"f": 1, "g": 2, "h": 3}), schema.dump({"h": 3}), schema.dump({})]


@pytest.mark.parametrize("key", ["", "other", "with.dot", 3, None, ("t",)])
def test_data_key(ma, log, key):
    schema = schema_of(ma, {"f": ma.fields.Integer(data_key=key), "g": ma.fields.Raw()})
    log.attempt(schema.dump, {"f": "1", "g": 2})
    log.attempt(schema.dump, [{"f": "1"}, {}], many=True)


@pytest.mark.parametrize(
    "attribute", ["g", "", "a.b", "a.b.c", ".", "a.", ".a", "a..b", "0", "a.0"]
)
def test_attribute(ma, log, attribute):
    schema = schema_of(ma, {"f": ma.fields.Raw(attribute=attribute, dump_default="d")})
    for obj in (
        {"f": 1, "g": 2, "": 3, "a": {"b": {"c": 4}, "": 5}},
        {"a.b": 1, "a": Plain(b=2)},
        {"a": [10, 11]},
        {"a": None},
        Plain(a=Plain(b=Plain(c=1))),
        Plain(a={"b": 3}),
        [5, 6],
        None,
    ):
        log.attempt(schema.dump, obj)


@pytest.mark.parametrize("name", ["items", "get", "keys", "values", "__class__", "a.b", "", "0"])
def test_fields_named_like_methods(ma, log, name):
    schema = schema_of(ma, {name: ma.fields.Raw()})
    for obj in ({}, {name: 1}, Plain(), {"a": {"b": 2}}, [7], "text", Plain(items=3, get=4)):
        log.attempt(schema.dump, obj)


@pytest.mark.parametrize("dict_class", ["OrderedDict", "own", "function"])
def test_dict_class(ma, log, dict_class):
    import collections

    class Own(dict):
        def __setitem__(self, key, value):
            log("set", key, value)
            super().__setitem__(key, value)

    made = {"OrderedDict": collections.OrderedDict, "own": Own, "function": lambda: Own(z=1)}

    class S(ma.Schema):
        f = ma.fields.Integer()
        g = ma.fields.Nested({"h": ma.fields.Integer()})

    S.dict_class = made[dict_class] if dict_class != "function" else staticmethod(made[dict_class])
    return S().dump([{"f": "1", "g": {"h": 2}}], many=True)


def test_integers_of_a_uuid(ma, log):
    """Their text is made from 128 bits; more, and less than zero, are the library's own affair."""
    schema = schema_of(ma, {"f": ma.fields.UUID()})
    edges = [2**bits + more for bits in (0, 30, 60, 63, 64, 90, 120, 127, 128) for more in (-1, 0)]
    for number in [*edges, 2**150, -1, -(2**63), -(2**100), 0x0123456789ABCDEF << 64, True]:
        value = uuid.UUID(int=0)
        object.__setattr__(value, "int", number)
        log.attempt(schema.dump, {"f": value})
