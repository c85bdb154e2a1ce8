"""Every field class, with each option, given every value: what ``load`` makes of it."""

import collections
import decimal
import types

import pytest

from tests.conformance.harness import table
from tests.conformance.material import (
    FIELDS,
    VALUES,
    DictLike,
    Mapped,
    MultiDict,
    Plain,
    schema_of,
    subclass,
)


@pytest.mark.parametrize("kind", FIELDS)
@table
def test_each_value(ma, log, kind):
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
    for data in ({}, {"f": ma.missing}, {"F": 1}, None, [], "text", 3, Plain()):
        for partial in (None, True, False, ("f",), ("g",), ()):
            log.attempt(schema.load, data, partial=partial)
        log.attempt(schema.load, [data], many=True)
        log.attempt(schema.validate, data)


HOLDERS = {
    "list": (lambda ma, field: ma.fields.List(field), lambda make: [make(), None, make()]),
    "dict": (lambda ma, field: ma.fields.Dict(values=field), lambda make: {"a": make(), "b": None}),
    "tuple": (
        lambda ma, field: ma.fields.Tuple([field, ma.fields.Integer()]),
        lambda make: (make(), "x"),
    ),
    "keys": (
        lambda ma, field: ma.fields.Dict(keys=field, values=ma.fields.Integer()),
        lambda make: {make(): 1, "x": "y"},
    ),
    "row": (lambda ma, field: field, lambda make: make()),
}


@pytest.mark.parametrize("holder", HOLDERS)
@pytest.mark.parametrize("kind", FIELDS)
@table
def test_each_value_inside(ma, log, kind, holder):
    hold, fill = HOLDERS[holder]
    fields = {"e": ma.fields.Integer(), "f": hold(ma, FIELDS[kind](ma))}
    schema = schema_of(ma, fields, many=True)
    for name, make in VALUES.items():
        log(name)
        try:
            rows = [{"e": e, "f": fill(make)} for e in ("1", "x")]
        except Exception:  # It cannot be a key.
            continue
        log.attempt(schema.load, [*rows, {"e": 2}])
        log.attempt(schema.validate, [{"f": fill(make)}])


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


@pytest.mark.parametrize("default", ["value", "callable", "none", "missing", "class", "raises"])
@pytest.mark.parametrize("kind", ["string", "integer", "raw", "list-int", "nested", "function"])
def test_load_default(ma, log, kind, default):
    field = FIELDS[kind](ma)
    field.load_default = {
        "value": 7,
        "callable": log.spy("default", lambda: [3]),
        "none": None,
        "missing": ma.missing,
        "class": list,
        "raises": lambda: 1 / 0,
    }[default]
    schema = schema_of(ma, {"f": field})
    for data in ({}, {"f": 1}, {"f": None}, {"f": ma.missing}):
        log.attempt(schema.load, data)
        log.attempt(schema.load, [data, {}], many=True)
        log.attempt(schema.load, data, partial=True)


@pytest.mark.parametrize("error", ["ValidationError", "ValueError"])
def test_a_load_default_that_fails(ma, log, error):
    def fail():
        raise ma.ValidationError("no default") if error == "ValidationError" else ValueError("no")

    log.attempt(schema_of(ma, {"f": ma.fields.Raw(load_default=fail)}).load, {})


MAPPINGS = {
    "dict": dict,
    "ordered-dict": collections.OrderedDict,
    "defaultdict": lambda data: collections.defaultdict(int, data),
    "mapping-proxy": types.MappingProxyType,
    "user-dict": collections.UserDict,
    "mapping": Mapped,
    "multidict": lambda data: MultiDict({key: [value] for key, value in data.items()}),
    "dict-like": DictLike,
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


@pytest.mark.parametrize("attribute", ["g", "a.b", "a.b.c", "", ".", "a.", ".a", "a..b"])
def test_attribute(ma, log, attribute):
    schema = schema_of(
        ma,
        {
            "f": ma.fields.Integer(attribute=attribute),
            "x": ma.fields.Integer(attribute="a.d"),
            "y": ma.fields.Raw(attribute="a.e.f"),
        },
    )
    for data in ({"f": 1}, {"f": 1, "x": 2, "y": 3}, {"y": 3, "f": "bad"}, {}):
        log.attempt(schema.load, data)
        log.attempt(schema.load, [data], many=True)


def test_attributes_that_collide_with_each_other(ma, log):
    schema = schema_of(ma, {"f": ma.fields.Raw(attribute="a"), "g": ma.fields.Raw(attribute="a.b")})
    log.attempt(schema.load, {"f": 1, "g": 2})
    log.attempt(schema.load, {"f": {"c": 1}, "g": 2})
    log.attempt(schema.load, {"g": 2})


@pytest.mark.parametrize("key", ["", "other", "with.dot", 3, ("t",)])
def test_data_key(ma, log, key):
    schema = schema_of(ma, {"f": ma.fields.Integer(data_key=key, required=True)})
    for data in ({key: "1"}, {key: "x"}, {"f": 1}, {}, {key: 1, "f": 2}):
        log.attempt(schema.load, data)
        log.attempt(schema.load, data, partial=("f",))


@pytest.mark.parametrize("data", [0, 1, "", "text", b"x", [], [1], (), None, True, {1, 2}, 1.5])
@pytest.mark.parametrize("many", [True, False, None])
def test_wrong_input(ma, log, data, many):
    schema = schema_of(ma, {"f": ma.fields.Integer(required=True)})
    log.attempt(schema.load, data, many=many)
    log.attempt(schema.validate, data, many=many)
    log.attempt(schema.load, [data, {"f": 1}, data], many=True)


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


def test_hostile_keys(ma, log):
    class Key(str):
        __hash__ = str.__hash__

        def __eq__(self, other):
            raise RuntimeError("compared")

    schema = schema_of(ma, {"f": ma.fields.Raw(), "g": ma.fields.Raw()}, unknown=ma.INCLUDE)
    for key in (Key("f"), Key("z"), 1, None, ("f",), 1.5, b"f"):
        for unknown in (ma.RAISE, ma.INCLUDE, ma.EXCLUDE):
            log.attempt(schema.load, {key: 1, "g": 2}, unknown=unknown)


def test_keys_of_a_str_subclass(ma, log):
    Key = subclass(str)
    schema = schema_of(ma, {"f": ma.fields.Raw(), "g": ma.fields.Raw()}, unknown=ma.INCLUDE)
    return schema.load({Key("f"): 1, Key("z"): 2})


@pytest.mark.parametrize("unknown", ["raise", "exclude", "include", "odd", None, True, 0])
def test_unknown_everywhere(ma, log, unknown):
    class Inner(ma.Schema):
        x = ma.fields.Integer()

        class Meta:
            unknown = "exclude"

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
        {},
        {"n": {}},
        {"f": 1, "n": {"x": 1}, "m": [{}, {"x": 2}]},
        {"l": [{}, {"Y": 1}], "d": {"k": {}}},
        {"f": "bad", "n": {"x": "bad"}},
    ):
        log.attempt(S().load, data, partial=partial)
        log.attempt(S(partial=partial).load, data)
        log.attempt(S(partial=partial, many=True).load, [data, data])
        log.attempt(S(partial=True).load, data, partial=partial)
        log.attempt(S().validate, data, partial=partial)


def test_what_a_field_is_given(ma, log):
    class Own(ma.fields.Field):
        def deserialize(self, value, *args, **kwargs):
            log("deserialize", value, args, kwargs)
            return super().deserialize(value, *args, **kwargs)

        def _deserialize(self, value, attr, data, **kwargs):
            log("_deserialize", value, attr, data, kwargs)
            return value

    schema = schema_of(
        ma,
        {
            "a": ma.fields.Integer(),
            "f": Own(data_key="F"),
            "l": ma.fields.List(Own()),
            "d": ma.fields.Dict(keys=Own(), values=Own()),
            "t": ma.fields.Tuple([Own(), Own()]),
            "n": ma.fields.Nested({"x": Own()}),
        },
    )
    data = log.watch({"F": 1, "l": [1, 2], "d": {"k": "v"}, "t": [1, 2], "n": {"x": 3}})
    for partial in (None, True, False, ("n.x", "f"), []):
        log.attempt(schema.load, data, partial=partial)
        log.attempt(schema.load, [data], many=True, partial=partial)


@pytest.mark.parametrize("odd", ["rounding", "places"])
@pytest.mark.parametrize("value", ["1.25", 1, 1.25, decimal.Decimal("1.25"), "NaN", "x"])
def test_decimal_that_cannot_be_rounded(ma, log, value, odd):
    schema = ma.Schema.from_dict({"f": ma.fields.Decimal(places=1, rounding="NO_SUCH_WAY")})()
    if odd == "places":
        schema.fields["f"].rounding = None
        schema.fields["f"].places = 0.1
    for _ in range(2):
        log.attempt(schema.load, {"f": value})
        log.attempt(schema.dump, {"f": value})


@pytest.mark.parametrize("value", ["123456.789", 123456.789, decimal.Decimal("123456.789"), "1"])
@pytest.mark.parametrize("allow_nan", [False, True])
def test_rounded_to_nan(ma, log, value, allow_nan):
    """A context that does not trap InvalidOperation rounds what has no room to NaN."""
    schema = ma.Schema.from_dict({"f": ma.fields.Decimal(places=2, allow_nan=allow_nan)})()
    for traps in ([], [decimal.InvalidOperation]):
        with decimal.localcontext(decimal.Context(prec=5, traps=traps)):
            for _ in range(3):
                log.attempt(schema.load, {"f": value})
                log.attempt(schema.dump, {"f": decimal.Decimal("123456.789")})
