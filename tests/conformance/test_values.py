"""Every field class, with each option, given every value: what ``dump`` and ``load`` make of it."""

import collections
import contextlib
import decimal
import types
import uuid

import pytest

from tests.conformance import material
from tests.conformance.harness import table
from tests.conformance.material import FIELDS, HOLDERS, VALUES, Plain, meta, schema_of


@pytest.mark.parametrize("kind", FIELDS)
@table
def test_each_value(ma, log, kind):
    schema = schema_of(ma, {"f": FIELDS[kind](ma)})
    for name, make in VALUES.items():
        value = make()
        log(name)
        log.attempt(schema.dump, {"f": value})
        log("afterwards", value)


@pytest.mark.parametrize("kind", FIELDS)
@table
def test_each_value_loaded(ma, log, kind):
    schema = schema_of(ma, {"f": FIELDS[kind](ma)})
    for name, make in VALUES.items():
        value = make()
        log(name)
        log.attempt(schema.load, {"f": value})
        log("afterwards", value)


@pytest.mark.parametrize("kind", FIELDS)
@table
def test_absent(ma, log, kind):
    schema = schema_of(ma, {"f": FIELDS[kind](ma)})
    absent = {"f": ma.missing}
    for data in ({}, absent, {"F": 1}, None, [], "text", 3, Plain(), Plain(**absent)):
        log.attempt(schema.dump, data)
        log.attempt(schema.dump, [data], many=True)
        for partial in (None, True, False, ("f",), ("g",), ()):
            log.attempt(schema.load, data, partial=partial)
        log.attempt(schema.load, [data], many=True)
        log.attempt(schema.validate, data)
    log.attempt(schema.dump, None, many=True)


def held(ma, holder, kind):
    """A schema of a kind of fields in a holder, and the values of it by their names."""
    hold, fill = HOLDERS[holder]
    fields = {"e": ma.fields.Integer(), "f": hold(ma, FIELDS[kind](ma))}
    values = {}
    for name, make in VALUES.items():
        with contextlib.suppress(Exception):  # It cannot be a key.
            values[name] = [fill(make) for _ in range(3)]
    return schema_of(ma, fields, many=True), values


@pytest.mark.parametrize("holder", ["alone", "list", "dict", "tuple", "keys"])
@pytest.mark.parametrize("kind", FIELDS)
@table
def test_each_value_inside(ma, log, kind, holder):
    schema, values = held(ma, holder, kind)
    for name, (first, second, _) in values.items():
        log(name)
        log.attempt(schema.dump, [Plain(e=1), Plain(e=2, f=first), Plain(f=second)])
        log("afterwards", first)


@pytest.mark.parametrize("holder", ["alone", "list", "dict", "tuple", "keys"])
@pytest.mark.parametrize("kind", FIELDS)
@table
def test_each_value_loaded_inside(ma, log, kind, holder):
    schema, values = held(ma, holder, kind)
    for name, (first, second, third) in values.items():
        log(name)
        log.attempt(schema.load, [{"e": "1", "f": first}, {"e": "x", "f": second}, {"e": 2}])
        log.attempt(schema.validate, [{"f": third}])


DECIMALS = [
    "1.25", "1.2", "1", "-0.00", "0", "-0.005", "100.00", "1E+2", "1E-9", "1.2E+5", "0.0000001",
    "NaN", "99.995", "-sNaN12", "-Infinity", "12345678901234567890123456.78", f"{'1' * 29}.01",
    "123456.789", 123456.789, 1, 1.25, "x",
]  # fmt: skip
CONTEXTS = [
    {}, {"prec": 7}, {"prec": 4, "capitals": 0}, {"traps": [decimal.Inexact]},
    # One that does not trap InvalidOperation rounds what has no room to NaN.
    {"prec": 5, "traps": []}, {"prec": 5, "traps": [decimal.InvalidOperation]},
]  # fmt: skip


@pytest.mark.parametrize("allow_nan", [False, True])
@pytest.mark.parametrize("places", [0, 2, 4, 7, -1, "no number"])
@pytest.mark.parametrize("rounding", [None, decimal.ROUND_UP, "no rounding"])
def test_decimals_of_a_number_of_places(ma, log, places, rounding, allow_nan):
    field = ma.fields.Decimal(1, rounding, allow_nan=allow_nan, as_string=True)
    schema = schema_of(ma, {"f": field, "g": ma.fields.Decimal(1, rounding)})
    for each in schema.fields.values():
        each.places = 0.1 if places == "no number" else decimal.Decimal((0, (1,), -places))
    for options in CONTEXTS:
        with decimal.localcontext(decimal.Context(**options)) as used:
            for value in DECIMALS:
                log("value", value)
                if isinstance(value, str) and value != "x":
                    log.attempt(schema.dump, {"f": decimal.Decimal(value)})
                log.attempt(schema.dump, {"f": value, "g": value})
                log.attempt(schema.load, {"f": value})
        log("flags", sorted(flag.__name__ for flag, is_set in used.flags.items() if is_set))


@pytest.mark.parametrize("kind", FIELDS)
@table
def test_required_and_none(ma, log, kind):
    for required in (True, False):
        for allow_none in (True, False):
            field = FIELDS[kind](ma)
            field.required, field.allow_none = required, allow_none
            schema = schema_of(ma, {"f": field})
            for data in ({}, {"f": None}, {"f": ma.missing}):
                log.attempt(schema.load, data)
                log.attempt(schema.load, data, partial=True)


@pytest.mark.parametrize("kind", FIELDS)
@table
def test_called_directly(ma, log, kind):
    field = FIELDS[kind](ma)
    for name, make in VALUES.items():
        log(name)
        log.attempt(field.deserialize, make())
        log.attempt(field.deserialize, make(), "attr", {"attr": 1})
        log.attempt(field.serialize, "f", {"f": make()})
        log.attempt(field._serialize, make(), None, None)


@pytest.mark.parametrize("option", ["dump_default", "load_default"])
@pytest.mark.parametrize(
    "default",
    ["value", "callable", "none", "missing", "class", "gives missing", "raises", "refuses"],
)
@pytest.mark.parametrize("kind", ["string", "integer", "raw", "list-int", "nested", "function"])
def test_default(ma, log, kind, default, option):
    def refuse():
        raise ma.ValidationError("no default")

    field = FIELDS[kind](ma)
    made = {
        "value": 7,
        "callable": log.spy("default", lambda: [3]),
        "none": None,
        "missing": ma.missing,
        "class": list,
        "gives missing": lambda: ma.missing,
        "raises": lambda: 1 / 0,
        "refuses": refuse,
    }
    setattr(field, option, made[default])
    schema = schema_of(ma, {"f": field})
    call = schema.dump if option == "dump_default" else schema.load
    for data in ({}, {"f": 1}, {"f": None}, {"f": ma.missing}, Plain(), Plain(f=ma.missing)):
        log.attempt(call, data)
        log.attempt(call, [data, {}], many=True)
        log.attempt(schema.load, data, partial=True)


def test_the_default_object_is_passed_on(ma, log):
    default = log.watch([1])
    schema = schema_of(ma, {"f": ma.fields.Raw(dump_default=default)})
    return [schema.dump({}), schema.dump({})]


MAPPINGS = {
    "dict": dict,
    "ordered-dict": collections.OrderedDict,
    "defaultdict": lambda data: collections.defaultdict(int, data),
    "mapping-proxy": types.MappingProxyType,
    "user-dict": collections.UserDict,
    "mapping": material.Mapped,
    "multidict": lambda data: material.MultiDict({key: [value] for key, value in data.items()}),
    "dict-like": material.DictLike,
    "chainmap": lambda data: collections.ChainMap({}, data),
    "counter": collections.Counter,
    "pairs": lambda data: list(data.items()),
    "object": lambda data: Plain(**data),
    "keys": lambda data: data.keys(),
}


@pytest.mark.parametrize("unknown", ["raise", "exclude", "include"])
@pytest.mark.parametrize("mapping", MAPPINGS)
def test_mappings(ma, log, mapping, unknown):
    schema = schema_of(
        ma,
        {"f": ma.fields.Integer(), "n": ma.fields.Nested({"x": ma.fields.Integer()})},
        unknown=unknown,
    )
    make = MAPPINGS[mapping]
    for content in ({}, {"f": 1}, {"f": 1, "g": 2}, {"n": {"x": "1", "y": 2}}, {"z": 1, "y": 2}):
        data = log.watch(make(content))
        log.attempt(schema.load, data)
        log.attempt(schema.load, [data, make(content)], many=True)
        log.attempt(schema.load, {"n": make(content)})
        log.attempt(schema.validate, data)


@pytest.mark.parametrize(
    "attribute", ["g", "", "a.b", "a.b.c", ".", "a.", ".a", "a..b", "0", "a.0"]
)
def test_attribute(ma, log, attribute):
    dumped = schema_of(ma, {"f": ma.fields.Raw(attribute=attribute, dump_default="d")})
    for obj in (
        {"f": 1, "g": 2, "": 3, "a": {"b": {"c": 4}, "": 5}}, {"a.b": 1, "a": Plain(b=2)},
        {"a": [10, 11]}, {"a": None}, Plain(a=Plain(b=Plain(c=1))), Plain(a={"b": 3}), [5, 6], None,
    ):  # fmt: skip
        log.attempt(dumped.dump, obj)
    x, y = ma.fields.Integer(attribute="a.d"), ma.fields.Raw(attribute="a.e.f")
    loaded = schema_of(ma, {"f": ma.fields.Integer(attribute=attribute), "x": x, "y": y})
    for data in ({"f": 1}, {"f": 1, "x": 2, "y": 3}, {"y": 3, "f": "bad"}, {}):
        log.attempt(loaded.load, data)
        log.attempt(loaded.load, [data], many=True)


def test_attributes_that_collide_with_each_other(ma, log):
    schema = schema_of(ma, {"f": ma.fields.Raw(attribute="a"), "g": ma.fields.Raw(attribute="a.b")})
    log.attempt(schema.load, {"f": 1, "g": 2})
    log.attempt(schema.load, {"f": {"c": 1}, "g": 2})
    log.attempt(schema.load, {"g": 2})


@pytest.mark.parametrize("key", ["", "other", "with.dot", 3, None, ("t",)])
def test_data_key(ma, log, key):
    field = ma.fields.Integer(data_key=key, required=True)
    schema = schema_of(ma, {"f": field, "g": ma.fields.Raw()})
    log.attempt(schema.dump, {"f": "1", "g": 2})
    log.attempt(schema.dump, [{"f": "1"}, {}], many=True)
    for data in ({key: "1"}, {key: "x"}, {"f": 1}, {}, {key: 1, "f": 2}):
        log.attempt(schema.load, data)
        log.attempt(schema.load, data, partial=("f",))


def test_integers_of_a_uuid(ma, log):
    """Their text is made from 128 bits; more, and less than zero, are the library's own affair."""
    schema = schema_of(ma, {"f": ma.fields.UUID()})
    edges = [2**bits + more for bits in (0, 30, 60, 63, 64, 90, 120, 127, 128) for more in (-1, 0)]
    for number in [*edges, 2**150, -1, -(2**63), -(2**100), 0x0123456789ABCDEF << 64, True]:
        value = uuid.UUID(int=0)
        object.__setattr__(value, "int", number)
        log.attempt(schema.dump, {"f": value})


@pytest.mark.parametrize("index_errors", [True, False, None, 0])
def test_index_errors(ma, log, index_errors):
    class S(ma.Schema):
        class Meta:
            pass

        f = ma.fields.Integer(required=True)
        n = ma.fields.Nested({"x": ma.fields.Integer(required=True)}, many=True)

    S.opts.index_errors = index_errors
    data = [{"f": "x"}, {}, 3, {"f": 1, "n": [{}, {"x": "y"}, 2]}, {"f": 1, "g": 2}]
    log.attempt(S(many=True).load, data)
    log.attempt(S().load, data[0])
    log.attempt(S().validate, data, many=True)


@pytest.mark.parametrize("error", [None, RuntimeError, KeyError])
def test_keys_that_compare_themselves(ma, log, error):
    class Key(str):
        __hash__ = str.__hash__

        def __eq__(self, other):
            if error is None:
                # docs/differences.md says how often the key is asked.
                return str.__eq__(self, other)
            if dumping:
                log("eq", str(other))
            raise error("compared")

    schema = schema_of(ma, {"f": ma.fields.Raw(), "g": ma.fields.Raw()}, unknown=ma.INCLUDE)
    for key in (Key("f"), Key("z"), 1, None, ("f",), 1.5, b"f"):
        dumping = True
        log.attempt(schema.dump, {key: 1, "g": 2})
        log.attempt(schema.dump, [{"f": 1}, {key: 1}], many=True)
        dumping = False
        for unknown in (ma.RAISE, ma.INCLUDE, ma.EXCLUDE):
            log.attempt(schema.load, {key: 1, "g": 2}, unknown=unknown)
            log.attempt(schema.load, [{key: 1, Key("g"): 2}] * 3, many=True, unknown=unknown)


@pytest.mark.parametrize("unknown", ["raise", "exclude", "include", "odd", None, True, 0])
def test_unknown_everywhere(ma, log, unknown):
    class Inner(ma.Schema):
        x = ma.fields.Integer()
        Meta = meta(unknown="exclude")

    class S(ma.Schema):
        f = ma.fields.Integer(dump_only=True)
        n = ma.fields.Nested(Inner)
        m = ma.fields.Nested(Inner, unknown="include", many=True)
        o = ma.fields.Nested(Inner(unknown="raise"))
        p = ma.fields.Pluck(Inner, "x", unknown="include")

    extra = {"x": 1, "zz": 2}
    data = {"f": 1, "g": 2, "n": extra, "m": [extra], "o": extra, "p": 3}
    log.attempt(S().load, data, unknown=unknown)
    log.attempt(S(unknown=unknown).load, data)
    log.attempt(S(unknown=unknown).load, [data, data], many=True)
    log.attempt(S(unknown=unknown).validate, data)
    schema = S()
    log.attempt(schema.load, data)
    schema.unknown = unknown
    log.attempt(schema.load, data)
    S.opts.unknown = unknown
    log.attempt(S().load, data)


def test_the_order_of_unknown_keys(ma, log):
    schema = schema_of(ma, {"f": ma.fields.Raw()}, unknown=ma.INCLUDE)
    data = {f"key {number}": number for number in range(40)}
    log.attempt(schema.load, data)
    log.attempt(schema.load, {**data, "f": 1}, unknown=ma.RAISE)


@pytest.mark.parametrize(
    "partial", [True, False, None, (), ("f",), ["n.x"], {"n", "n.y"}, "f", ("n.x", "m.x", "f"), 1]
)
def test_partial_everywhere(ma, log, partial):
    class Inner(ma.Schema):
        x = ma.fields.Integer(required=True)
        y = ma.fields.Integer(required=True, data_key="Y")

    class S(ma.Schema):
        f = ma.fields.Integer(required=True)
        g = ma.fields.Integer(load_default=3)
        n = ma.fields.Nested(Inner, required=True)
        m = ma.fields.Nested(Inner, many=True)
        l = ma.fields.List(ma.fields.Nested(Inner))  # noqa: E741
        d = ma.fields.Dict(values=ma.fields.Nested(Inner))

    for data in (
        {}, {"n": {}}, {"f": 1, "n": {"x": 1}, "m": [{}, {"x": 2}]},
        {"l": [{}, {"Y": 1}], "d": {"k": {}}}, {"f": "bad", "n": {"x": "bad"}},
    ):  # fmt: skip
        log.attempt(S().load, data, partial=partial)
        log.attempt(S(partial=partial).load, data)
        log.attempt(S(partial=partial, many=True).load, [data, data])
        log.attempt(S(partial=True).load, data, partial=partial)
        log.attempt(S().validate, data, partial=partial)
