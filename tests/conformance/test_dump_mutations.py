"""A schema in use is changed, in every way; the next dump must see it, as upstream's does."""

import collections
import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from tests.conformance.harness import FROM_FIRST_USE
from tests.conformance.material import Plain, schema_of, subclass

MODES = FROM_FIRST_USE

Change = Callable[[Any, Any, Any], object]
"""``change(ma, schema_class, schema)``"""


def _set(name, **attributes):
    def change(ma, cls, schema):
        for attribute, value in attributes.items():
            setattr(schema.fields[name], attribute, value)

    return change


def _swap_class(ma, cls, schema):
    class Other(ma.fields.Integer):
        def _serialize(self, value, *args, **kwargs):
            return ("other", value)

    schema.fields["a"].__class__ = Other


def _replace_state(ma, cls, schema):
    field = schema.fields["a"]
    field.__dict__ = {**field.__dict__, "data_key": "replaced"}


def _replace_schema_state(ma, cls, schema):
    schema.__dict__ = {**schema.__dict__, "dump_fields": {"b": schema.fields["b"]}}


def _reorder(ma, cls, schema):
    first = next(iter(schema.dump_fields))
    schema.dump_fields[first] = schema.dump_fields.pop(first)


def _become_another_schema(ma, cls, schema):
    class Other(cls):
        def get_attribute(self, obj, attr, default):
            return "other"

    schema.__class__ = Other


def _hook(ma, cls, schema):
    cls.added = lambda self, data, **kwargs: {"hooked": data}
    cls._hooks["post_dump"].append(("added", False, {}))


def _new_hooks(ma, cls, schema):
    cls.added = lambda self, data, **kwargs: {"hooked": data}
    cls._hooks = collections.defaultdict(list, {"post_dump": [("added", False, {})]})


CHANGES = {
    "nothing": lambda ma, cls, schema: None,
    "data_key": _set("a", data_key="A"),
    "data_key-back": _set("c", data_key=None),
    "data_key-collides": _set("a", data_key="b"),
    "attribute": _set("a", attribute="b"),
    "attribute-dotted": _set("a", attribute="n.x"),
    "dump_default": _set("z", dump_default=9),
    "dump_default-callable": _set("z", dump_default=lambda: 10),
    "dump_default-mutable": _set("z", dump_default=[]),
    "as_string": _set("a", as_string=True),
    "format": _set("d", format="%Y"),
    "places": _set("e", places=None),
    "check": _set("a", _CHECK_ATTRIBUTE=False),
    "load_only": _set("a", load_only=True),
    "inner": lambda ma, cls, schema: setattr(schema.fields["l"], "inner", ma.fields.String()),
    "inner-data": lambda ma, cls, schema: setattr(schema.fields["l"].inner, "as_string", True),
    "tuple-fields": lambda ma, cls, schema: schema.fields["t"].tuple_fields.reverse(),
    "tuple-fields-item": lambda ma, cls, schema: schema.fields["t"].tuple_fields.__setitem__(
        0, ma.fields.Constant(3)
    ),
    "tuple-fields-longer": lambda ma, cls, schema: schema.fields["t"].tuple_fields.append(
        ma.fields.Raw()
    ),
    "value_field": lambda ma, cls, schema: setattr(schema.fields["m"], "value_field", None),
    "key_field": lambda ma, cls, schema: setattr(
        schema.fields["m"], "key_field", ma.fields.Constant("k")
    ),
    "mapping_type": lambda ma, cls, schema: setattr(
        schema.fields["m"], "mapping_type", collections.OrderedDict
    ),
    "method-name": _set("f", serialize_method_name="other"),
    "method": lambda ma, cls, schema: setattr(
        schema.fields["f"], "_serialize_method", lambda obj: "other"
    ),
    "method-none": _set("f", _serialize_method=None),
    "method-on-class": lambda ma, cls, schema: setattr(cls, "compute", lambda self, obj: "new"),
    "method-on-instance": lambda ma, cls, schema: setattr(schema, "compute", lambda obj: "new"),
    "function": lambda ma, cls, schema: setattr(
        schema.fields["g"], "serialize_func", lambda obj: "new"
    ),
    "function-none": _set("g", serialize_func=None),
    "constant": _set("k", constant="new"),
    "enum-by-value": _set("u", by_value=True),
    "enum-field": lambda ma, cls, schema: setattr(
        schema.fields["u"], "field", ma.fields.Constant("c")
    ),
    "nested-many": lambda ma, cls, schema: setattr(schema.fields["n"], "many", True),
    "nested-schema": lambda ma, cls, schema: setattr(
        schema.fields["n"], "_schema", schema_of(ma, {"y": ma.fields.Constant(1)})
    ),
    "nested-schema-many": lambda ma, cls, schema: setattr(schema.fields["n"].schema, "many", True),
    "nested-schema-none": _set("n", _schema=None),
    "nested-nested": lambda ma, cls, schema: [
        setattr(schema.fields["n"], "nested", {"x": ma.fields.Constant(5)}),
        setattr(schema.fields["n"], "_schema", None),
    ],
    "nested-field": lambda ma, cls, schema: setattr(
        schema.fields["n"].schema.fields["x"], "data_key", "X"
    ),
    "nested-dump_fields": lambda ma, cls, schema: schema.fields["n"].schema.dump_fields.clear(),
    "nested-dict_class": lambda ma, cls, schema: setattr(
        schema.fields["n"].schema, "dict_class", collections.OrderedDict
    ),
    "pluck-field": _set("p", field_name="y"),
    "pluck-many": _set("p", many=True),
    "pluck-key": lambda ma, cls, schema: setattr(
        schema.fields["p"].schema.fields["x"], "data_key", "X"
    ),
    "state-update": lambda ma, cls, schema: schema.fields["a"].__dict__.update(data_key="U"),
    "state-replaced": _replace_state,
    "state-of-schema": lambda ma, cls, schema: vars(schema).__setitem__("dump_fields", {}),
    "state-of-schema-replaced": _replace_schema_state,
    "field-class": _swap_class,
    "schema-class": _become_another_schema,
    "dump_fields-removed": lambda ma, cls, schema: schema.dump_fields.pop("a"),
    "dump_fields-added": lambda ma, cls, schema: schema.dump_fields.__setitem__(
        "new", ma.fields.Constant(1)
    ),
    "dump_fields-item": lambda ma, cls, schema: schema.dump_fields.__setitem__(
        "a", ma.fields.Constant(1)
    ),
    "dump_fields-emptied": lambda ma, cls, schema: schema.dump_fields.clear(),
    "dump_fields-replaced": lambda ma, cls, schema: setattr(
        schema, "dump_fields", {"a": schema.fields["a"]}
    ),
    "dump_fields-ordered": lambda ma, cls, schema: setattr(
        schema, "dump_fields", collections.OrderedDict(reversed(schema.dump_fields.items()))
    ),
    "dump_fields-mapping": lambda ma, cls, schema: setattr(
        schema, "dump_fields", collections.ChainMap({"a": schema.fields["a"]})
    ),
    "dump_fields-no-field": lambda ma, cls, schema: schema.dump_fields.__setitem__("a", "text"),
    "dump_fields-reordered": _reorder,
    "fields-only": lambda ma, cls, schema: schema.fields.pop("a"),
    "init-fields": lambda ma, cls, schema: [
        setattr(schema, "only", {"a", "b"}),
        schema._init_fields(),
    ],
    "dict_class": lambda ma, cls, schema: setattr(schema, "dict_class", collections.OrderedDict),
    "dict_class-on-class": lambda ma, cls, schema: setattr(
        cls, "dict_class", collections.OrderedDict
    ),
    "many": lambda ma, cls, schema: setattr(schema, "many", True),
    "get_attribute": lambda ma, cls, schema: setattr(
        schema, "get_attribute", lambda obj, attr, default: attr
    ),
    "get_attribute-on-class": lambda ma, cls, schema: setattr(
        cls, "get_attribute", lambda self, obj, attr, default: attr
    ),
    "hook": _hook,
    "hooks": _new_hooks,
    "enum-text": lambda ma, cls, schema: setattr(
        type(schema.fields["a"]), "_own", True
    ),
}  # fmt: skip


def _schema_class(ma, log):
    from tests.conformance.material import Color

    child = ma.Schema.from_dict({"x": ma.fields.Integer(), "y": ma.fields.Raw()}, name="Child")
    Own = subclass(ma.fields.Integer)

    class S(ma.Schema):
        a = Own()
        b = ma.fields.String()
        c = ma.fields.Raw(data_key="C")
        d = ma.fields.DateTime()
        e = ma.fields.Decimal(places=1)
        f = ma.fields.Method("compute")
        g = ma.fields.Function(lambda obj: "function")
        k = ma.fields.Constant("constant")
        l = ma.fields.List(ma.fields.Integer())  # noqa: E741
        m = ma.fields.Dict(keys=ma.fields.String(), values=ma.fields.Integer())
        n = ma.fields.Nested(child)
        p = ma.fields.Pluck(child, "x")
        t = ma.fields.Tuple((ma.fields.Integer(), ma.fields.String()))
        u = ma.fields.Enum(Color)
        z = ma.fields.Raw()

        def compute(self, obj):
            return "computed"

        def other(self, obj):
            return "other"

    return S


def _data():
    import datetime as dt
    import decimal

    from tests.conformance.material import Color

    return {
        "a": "1", "b": 2, "c": 3, "d": dt.datetime(2020, 1, 1), "e": decimal.Decimal("1.25"),
        "l": ["1"], "m": {"q": "1"}, "n": {"x": "1", "y": 2}, "p": {"x": 3, "y": 4},
        "t": ("1", 2), "u": Color.RED,
    }  # fmt: skip


def _use(log, schema):
    log("use")
    for _ in range(2):
        log.attempt(schema.dump, _data())
        log.attempt(schema.dump, [_data(), {}], many=True)
    log.attempt(schema.dump, Plain(**_data()))


@pytest.mark.parametrize("change", CHANGES)
def test_after_a_change(ma, log, change):
    cls = _schema_class(ma, log)
    schema, other = cls(), cls()
    _use(log, schema)
    log.attempt(other.dump, _data())
    CHANGES[change](ma, cls, schema)
    _use(log, schema)
    log.attempt(other.dump, _data())
    log.attempt(cls().dump, _data())


@pytest.mark.parametrize("change", CHANGES)
def test_before_the_first_use(ma, log, change):
    cls = _schema_class(ma, log)
    schema = cls()
    CHANGES[change](ma, cls, schema)
    _use(log, schema)


@pytest.mark.parametrize("how", ["copy", "deepcopy"])
@pytest.mark.parametrize("change", CHANGES)
def test_copies_of_a_used_schema(ma, log, change, how):
    cls = _schema_class(ma, log)
    schema = cls()
    _use(log, schema)
    twin = getattr(copy, how)(schema)
    _use(log, twin)
    CHANGES[change](ma, cls, twin)
    _use(log, twin)
    _use(log, schema)


@pytest.mark.parametrize("change", CHANGES)
def test_a_nested_schema_that_is_changed(ma, log, change):
    cls = _schema_class(ma, log)
    outer = schema_of(ma, {"s": ma.fields.Nested(cls), "t": ma.fields.List(ma.fields.Nested(cls))})
    for _ in range(2):
        log.attempt(outer.dump, {"s": _data(), "t": [_data()]})
    CHANGES[change](ma, cls, outer.fields["s"].schema)
    for _ in range(2):
        log.attempt(outer.dump, {"s": _data(), "t": [_data()]})
        log.attempt(outer.dump, [{"s": _data(), "t": [_data(), None]}] * 2, many=True)


@pytest.mark.parametrize("first", ["attribute", "dump_fields-removed", "field-class", "hook"])
@pytest.mark.parametrize("second", ["data_key", "dump_fields-added", "nested-field", "many"])
def test_one_change_after_another(ma, log, first, second):
    cls = _schema_class(ma, log)
    schema = cls()
    for change in ("nothing", first, second, first):
        log.attempt(lambda: CHANGES[change](ma, cls, schema) and None)  # noqa: B023
        _use(log, schema)


def test_many_changes_in_turn(ma, log):
    schema = schema_of(ma, {"f": ma.fields.Integer()})
    for number in range(40):
        schema.fields["f"].data_key = f"key {number % 3}"
        log.attempt(schema.dump, {"f": number})
        log.attempt(schema.dump, [{"f": number}] * 9, many=True)


class PickledSchemaMaker:
    """Classes that pickle must find by name, one for each library."""


def _pickled_class(ma):
    name = f"Pickled_{ma.__name__.replace('.', '_')}"
    if name not in globals():
        child = ma.Schema.from_dict({"x": ma.fields.Integer()}, name=f"{name}_child")
        child.__module__, child.__qualname__ = __name__, f"{name}_child"
        globals()[f"{name}_child"] = child
        cls = type(
            name,
            (ma.Schema,),
            {
                "__module__": __name__,
                "f": ma.fields.Integer(dump_default=3),
                "g": ma.fields.String(),
                "n": ma.fields.Nested(child),
            },
        )
        globals()[name] = cls
    return globals()[name]


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("used", [True, False])
def test_pickles(ma, log, used, protocol):
    schema = _pickled_class(ma)()
    data = {"f": "1", "g": 2, "n": {"x": "3"}}
    if used:
        log.attempt(schema.dump, data)
        log.attempt(schema.dump, data)
    twin = pickle.loads(pickle.dumps(schema, protocol))
    log("attributes", sorted(vars(twin)))
    for _ in range(2):
        log.attempt(twin.dump, data)
    twin.fields["f"].data_key = "F"
    twin.fields["n"].schema.fields["x"].data_key = "X"
    log.attempt(twin.dump, data)
    log.attempt(schema.dump, data)


@pytest.mark.parametrize("moment", ["never", "before", "after"])
def test_the_schemas_own_dictionary(ma, log, moment):
    schema = schema_of(ma, {"f": ma.fields.Integer(), "g": ma.fields.Integer()})
    if moment == "before":
        state = vars(schema)
    for _ in range(3):
        log.attempt(schema.dump, {"f": 1, "g": 2})
    if moment == "after":
        state = vars(schema)
    if moment != "never":
        log("is it", state is vars(schema), state == vars(schema))
        state["dump_fields"] = {"f": schema.fields["f"]}
        state["extra"] = 1
        log("extra", schema.extra)
        schema.later = 2
        log("later", state["later"])
    # docs/differences.md: a compiled class has no __static_attributes__.
    log("names", sorted(vars(schema)), sorted(set(dir(schema)) - {"__static_attributes__"}))
    log.attempt(schema.dump, {"f": 1, "g": 2})


def test_a_schema_with_slots(ma, log):
    class S(ma.Schema):
        __slots__ = ("extra",)
        f = ma.fields.Integer()

    schema = S()
    schema.extra = 3
    for _ in range(3):
        log.attempt(schema.dump, {"f": "1"})
    log("copied", copy.copy(schema).extra)


def test_a_failed_first_dump(ma, log):
    class Late(ma.fields.Integer):
        def _serialize(self, value, *args, **kwargs):
            if value == "fail":
                raise ValueError("fail")
            return super()._serialize(value, *args, **kwargs)

    schema = schema_of(
        ma, {"a": ma.fields.Integer(), "f": Late(), "n": ma.fields.Nested("NotThereYet")}
    )
    log.attempt(schema.dump, {"a": "x"})
    log.attempt(schema.dump, {"a": 1, "f": "fail"})
    log.attempt(schema.dump, {"a": 1, "f": 2, "n": {"x": 1}})

    class NotThereYet(ma.Schema):
        x = ma.fields.Constant("now")

    log.attempt(schema.dump, {"a": 1, "f": 2, "n": {"x": 1}})


def test_a_hook_that_changes_another_schema(ma, log):
    target = schema_of(ma, {"f": ma.fields.Integer()})

    class S(ma.Schema):
        f = ma.fields.Raw()

        @ma.pre_dump
        def change(self, data, **kwargs):
            target.fields["f"].data_key = f"key {data['f']}"
            return data

    schema = S()
    for number in range(4):
        log.attempt(schema.dump, {"f": number})
        log.attempt(target.dump, {"f": number})
