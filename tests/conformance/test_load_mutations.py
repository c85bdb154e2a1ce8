"""A schema in use is changed, in every way; the next load must see it, as upstream's does."""

import collections
import copy
from collections.abc import Callable
from typing import Any

import pytest

from tests.conformance.harness import FROM_FIRST_USE
from tests.conformance.material import Color, schema_of, subclass

MODES = FROM_FIRST_USE

Change = Callable[[Any, Any, Any], object]


def _set(name, **attributes):
    def change(ma, cls, schema):
        for attribute, value in attributes.items():
            setattr(schema.fields[name], attribute, value)

    return change


def _fail(ma, text="changed"):
    def fail(value):
        raise ma.ValidationError(text)

    return fail


def _hook(tag, **config):
    def change(ma, cls, schema):
        if tag == "validates":
            config["field_names"] = ("a",)
            cls.added = lambda self, value, **kwargs: _fail(ma)(value)
        elif tag == "validates_schema":
            cls.added = lambda self, data, **kwargs: _fail(ma)(data)
        else:
            cls.added = lambda self, data, **kwargs: {**data, "b": "hooked"}
        cls._hooks[tag].append(("added", False, config))

    return change


def _swap_class(ma, cls, schema):
    class Other(ma.fields.Integer):
        def _deserialize(self, value, *args, **kwargs):
            return ("other", value)

    schema.fields["a"].__class__ = Other


def _become_another_schema(ma, cls, schema):
    class Other(cls):
        def handle_error(self, error, data, **kwargs):
            raise RuntimeError("handled") from error

    schema.__class__ = Other


CHANGES = {
    "nothing": lambda ma, cls, schema: None,
    "required": _set("z", required=True),
    "not-required": _set("r", required=False),
    "allow_none": _set("a", allow_none=True),
    "load_default": _set("z", load_default=9),
    "load_default-callable": _set("z", load_default=list),
    "data_key": _set("a", data_key="b"),
    "attribute": _set("a", attribute="x.y"),
    "attribute-none": _set("c", attribute=None),
    "strict": _set("a", strict=True),
    "strict-odd": _set("a", strict="yes"),
    "allow_nan": _set("e", allow_nan=True),
    "format": _set("d", format="%Y"),
    "dump_only": _set("a", dump_only=True),
    "validators-append": lambda ma, cls, schema: schema.fields["a"].validators.append(_fail(ma)),
    "validators-clear": lambda ma, cls, schema: schema.fields["v"].validators.clear(),
    "validators-replace": lambda ma, cls, schema: schema.fields["v"].validators.__setitem__(
        0, _fail(ma)
    ),
    "validators-new": lambda ma, cls, schema: setattr(
        schema.fields["v"], "validators", (_fail(ma),)
    ),
    "validators-of-a-copy": lambda ma, cls, schema: cls._declared_fields["v"].validators.append(
        _fail(ma)
    ),
    "validator-state": lambda ma, cls, schema: setattr(
        schema.fields["v"].validators[0], "max", 100
    ),
    "validator-error": lambda ma, cls, schema: setattr(
        schema.fields["v"].validators[0], "error", "between {min} and {max}"
    ),
    "validator-choices": lambda ma, cls, schema: schema.fields["o"].validators[0].choices.append(9),
    "validate": lambda ma, cls, schema: setattr(schema.fields["a"], "validate", _fail(ma)),
    "messages": lambda ma, cls, schema: schema.fields["a"].error_messages.update(
        invalid="edited {input}", required="edited"
    ),
    "messages-replaced": _set("a", error_messages={"invalid": ["a", "list"]}),
    "messages-missing": _set("a", error_messages={}),
    "schema-messages": lambda ma, cls, schema: schema.error_messages.update(
        unknown="edited", type="edited"
    ),
    "pre_load": lambda ma, cls, schema: schema.fields["a"].pre_load.append(lambda value: "7"),
    "post_load": lambda ma, cls, schema: schema.fields["a"].post_load.append(lambda value: [value]),
    "inner": lambda ma, cls, schema: setattr(schema.fields["l"], "inner", ma.fields.String()),
    "inner-validators": lambda ma, cls, schema: schema.fields["l"].inner.validators.append(
        _fail(ma)
    ),
    "inner-required": lambda ma, cls, schema: setattr(schema.fields["l"].inner, "required", True),
    "tuple-fields": lambda ma, cls, schema: schema.fields["t"].tuple_fields.reverse(),
    "tuple-length": lambda ma, cls, schema: setattr(
        schema.fields["t"], "validate_length", ma.validate.Length(equal=3)
    ),
    "value_field": lambda ma, cls, schema: setattr(schema.fields["m"], "value_field", None),
    "key_field": lambda ma, cls, schema: setattr(schema.fields["m"], "key_field", ma.fields.Raw()),
    "mapping_type": lambda ma, cls, schema: setattr(
        schema.fields["m"], "mapping_type", collections.OrderedDict
    ),
    "method": lambda ma, cls, schema: setattr(
        schema.fields["f"], "_deserialize_method", lambda value: "other"
    ),
    "method-on-class": lambda ma, cls, schema: setattr(cls, "parse", lambda self, value: "new"),
    "function": lambda ma, cls, schema: setattr(
        schema.fields["g"], "deserialize_func", lambda value: "new"
    ),
    "constant": _set("k", constant="new"),
    "enum-by-value": _set("u", by_value=True),
    "enum-class": _set("u", enum=collections.namedtuple("NoEnum", "x")),
    "enum-choices": _set("u", choices_text="changed"),
    "nested-many": lambda ma, cls, schema: setattr(schema.fields["n"], "many", True),
    "nested-unknown": _set("n", unknown="exclude"),
    "nested-schema": lambda ma, cls, schema: setattr(
        schema.fields["n"], "_schema", schema_of(ma, {"y": ma.fields.Raw(required=True)})
    ),
    "nested-schema-unknown": lambda ma, cls, schema: setattr(
        schema.fields["n"].schema, "unknown", "include"
    ),
    "nested-schema-partial": lambda ma, cls, schema: setattr(
        schema.fields["n"].schema, "partial", True
    ),
    "nested-field": lambda ma, cls, schema: setattr(
        schema.fields["n"].schema.fields["x"], "required", False
    ),
    "nested-load_fields": lambda ma, cls, schema: schema.fields["n"].schema.load_fields.clear(),
    "pluck-field": _set("p", field_name="y"),
    "pluck-many": _set("p", many=True),
    "load_fields-removed": lambda ma, cls, schema: schema.load_fields.pop("a"),
    "load_fields-added": lambda ma, cls, schema: schema.load_fields.__setitem__(
        "q", ma.fields.Raw(required=True)
    ),
    "load_fields-emptied": lambda ma, cls, schema: schema.load_fields.clear(),
    "load_fields-replaced": lambda ma, cls, schema: setattr(
        schema, "load_fields", {"a": schema.fields["a"]}
    ),
    "load_fields-mapping": lambda ma, cls, schema: setattr(
        schema, "load_fields", collections.ChainMap({"a": schema.fields["a"]})
    ),
    "fields-only": lambda ma, cls, schema: schema.fields.pop("a"),
    "dict_class": lambda ma, cls, schema: setattr(schema, "dict_class", collections.OrderedDict),
    "many": lambda ma, cls, schema: setattr(schema, "many", True),
    "unknown": lambda ma, cls, schema: setattr(schema, "unknown", "include"),
    "partial": lambda ma, cls, schema: setattr(schema, "partial", True),
    "partial-names": lambda ma, cls, schema: setattr(schema, "partial", ("r", "n.x")),
    "partial-grows": lambda ma, cls, schema: (
        setattr(schema, "partial", ["r"]) or schema.partial.append("n.x")
    ),
    "index_errors": lambda ma, cls, schema: setattr(schema.opts, "index_errors", False),
    "opts": lambda ma, cls, schema: (
        setattr(schema, "opts", copy.copy(schema.opts))
        or setattr(schema.opts, "index_errors", False)
    ),
    "pre_load-hook": _hook("pre_load"),
    "post_load-hook": _hook("post_load"),
    "validates-hook": _hook("validates"),
    "validates_schema-hook": _hook("validates_schema", skip_on_field_errors=True),
    "handle_error": lambda ma, cls, schema: setattr(
        schema, "handle_error", lambda *args, **kwargs: 1 / 0
    ),
    "field-class": _swap_class,
    "schema-class": _become_another_schema,
    "state-update": lambda ma, cls, schema: schema.fields["a"].__dict__.update(required=True),
    "state-of-schema": lambda ma, cls, schema: vars(schema).__setitem__("load_fields", {}),
    "truthy": lambda ma, cls, schema: setattr(schema.fields["w"], "truthy", {"ja"}),
    "truthy-edited": lambda ma, cls, schema: schema.fields["w"].truthy.add("ja"),
}


def _schema_class(ma):
    child = ma.Schema.from_dict(
        {"x": ma.fields.Integer(required=True), "y": ma.fields.Raw()}, name="Child"
    )

    Own = subclass(ma.fields.Integer)

    class S(ma.Schema):
        a = Own()
        b = ma.fields.String()
        c = ma.fields.Raw(attribute="C")
        d = ma.fields.DateTime()
        e = ma.fields.Float()
        f = ma.fields.Method(deserialize="parse")
        g = ma.fields.Function(deserialize=lambda value: [value])
        k = ma.fields.Constant("constant")
        l = ma.fields.List(ma.fields.Integer())  # noqa: E741
        m = ma.fields.Dict(keys=ma.fields.String(), values=ma.fields.Integer())
        n = ma.fields.Nested(child)
        o = ma.fields.Raw(validate=ma.validate.OneOf([1, 2]))
        p = ma.fields.Pluck(child, "x")
        r = ma.fields.Raw(required=True)
        t = ma.fields.Tuple((ma.fields.Integer(), ma.fields.String()))
        u = ma.fields.Enum(Color)
        v = ma.fields.Integer(validate=ma.validate.Range(min=1, max=9))
        w = ma.fields.Boolean(truthy={"yes"})
        z = ma.fields.Raw()

        def parse(self, value):
            return ("parsed", value)

    return S


GOOD = {
    "a": "1", "b": "2", "c": 3, "d": "2020-01-01T00:00:00", "e": "1.5", "f": 1, "g": 2, "k": 3,
    "l": ["1"], "m": {"q": "1"}, "n": {"x": "1", "y": 2}, "o": 1, "p": 3, "r": 1,
    "t": ["1", "2"], "u": "RED", "v": 5, "w": "yes", "z": 0,
}  # fmt: skip
BAD = {
    "a": "x", "b": 2, "d": "no", "e": "nan", "l": ["x", 1], "m": {"q": "x"}, "n": {"y": 2, "z": 1},
    "o": 9, "p": "x", "t": ["1"], "u": "BLUE", "v": 50, "w": "ja", "unknown": 1,
}  # fmt: skip


def _use(log, schema):
    log("use")
    for _ in range(2):
        log.attempt(schema.load, copy.deepcopy(GOOD))
        log.attempt(schema.load, copy.deepcopy(BAD))
    log.attempt(schema.load, [copy.deepcopy(BAD), {}, None, copy.deepcopy(GOOD)], many=True)
    log.attempt(schema.load, {"a": None})
    log.attempt(schema.validate, copy.deepcopy(BAD))


@pytest.mark.parametrize("change", CHANGES)
def test_after_a_change(ma, log, change):
    cls = _schema_class(ma)
    schema, other = cls(), cls()
    _use(log, schema)
    _use(log, other)
    CHANGES[change](ma, cls, schema)
    _use(log, schema)
    _use(log, other)
    _use(log, cls())


@pytest.mark.parametrize("change", CHANGES)
def test_before_the_first_use(ma, log, change):
    cls = _schema_class(ma)
    schema = cls()
    CHANGES[change](ma, cls, schema)
    _use(log, schema)


@pytest.mark.parametrize("how", ["copy", "deepcopy"])
@pytest.mark.parametrize("change", CHANGES)
def test_copies_of_a_used_schema(ma, log, change, how):
    cls = _schema_class(ma)
    schema = cls()
    _use(log, schema)
    twin = getattr(copy, how)(schema)
    _use(log, twin)
    CHANGES[change](ma, cls, twin)
    _use(log, twin)
    _use(log, schema)


@pytest.mark.parametrize("change", CHANGES)
def test_a_nested_schema_that_is_changed(ma, log, change):
    cls = _schema_class(ma)
    outer = schema_of(ma, {"s": ma.fields.Nested(cls), "t": ma.fields.List(ma.fields.Nested(cls))})
    data = {"s": GOOD, "t": [BAD]}
    log.attempt(outer.load, copy.deepcopy(data))
    CHANGES[change](ma, cls, outer.fields["s"].schema)
    for _ in range(2):
        log.attempt(outer.load, copy.deepcopy(data))
        log.attempt(outer.load, [copy.deepcopy(data), {"s": BAD}], many=True)
