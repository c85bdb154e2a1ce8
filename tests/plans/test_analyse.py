"""Which step each field gets, and why where it is not its kind's own."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import pytest

from althaia import marshmallow as ma
from althaia.engine import planner
from althaia.engine.analysis import KEPT
from tests.conformance.material import FIELDS, schema_of

fields = ma.fields
Make = Callable[[], Any]


def step_of(field: Any, direction: str = "dump") -> Any:
    (step,) = planner.build(schema_of(ma, {"f": field}), direction).steps
    return step


def as_text(step: Any) -> str:
    inner = ", ".join(f"{label}: {as_text(each)}" for label, each in step.inner().items())
    return f"{step.label}({inner})" if inner else step.label


STEPS = {
    "raw": ("as it is", "as it is"),
    "string": ("text", "text"),
    "email": ("text", "text"),
    "url": ("text", "text"),
    "integer": ("int", "int"),
    "float": ("float", "float"),
    "decimal": ("decimal", "decimal"),
    "boolean": ("as it is", "bool"),
    "datetime": ("datetime, ISO", "date or time"),
    "datetime-rfc": ("formatting function", "date or time"),
    "datetime-timestamp": ("formatting function", "field's own _deserialize"),
    "datetime-format": ("strftime, plain", "date or time"),
    "datetime-bad-format": ("formatting function", "date or time"),
    "naive": ("datetime, ISO", "date or time"),
    "aware": ("datetime, ISO", "date or time"),
    "date": ("date, ISO", "date or time"),
    "date-format": ("formatting function", "date or time"),
    "time": ("time, ISO", "date or time"),
    "timedelta": ("timedelta", "timedelta"),
    "uuid": ("UUID", "UUID"),
    "ip": ("field's own _serialize", "field's own _deserialize"),
    "ipv4": ("field's own _serialize", "field's own _deserialize"),
    "ipv6": ("field's own _serialize", "field's own _deserialize"),
    "ip-interface": ("field's own _serialize", "field's own _deserialize"),
    "ipv4-interface": ("field's own _serialize", "field's own _deserialize"),
    "ipv6-interface": ("field's own _serialize", "field's own _deserialize"),
    "enum": ("enum(name: text)", "enum(member: text)"),
    "enum-value": ("enum(value: as it is)", "enum(member: as it is)"),
    "enum-field": ("enum(value: strftime, plain)", "field's own _deserialize"),
    "list-int": ("list(items: int)", "list(items: int)"),
    "tuple": ("tuple(0: int, 1: text)", "tuple(0: int, 1: text)"),
    "dict": ("dict", "dict"),
    "dict-both": ("dict(keys: text, values: float)", "dict(keys: text, values: float)"),
    "nested": ("nested schema", "nested schema"),
    "pluck": ("nested schema", "nested schema"),
    "constant": ("constant", "constant"),
    "function": ("function", "function"),
    "method-none": ("function", "as it is"),
}
"""The steps that dump and load each kind of upstream's fields, by their names in ``FIELDS``."""


@pytest.mark.parametrize("direction", ["dump", "load"])
@pytest.mark.parametrize("kind", STEPS)
def test_upstreams_own_kinds(kind: str, direction: str) -> None:
    step = step_of(FIELDS[kind](ma), direction)
    assert as_text(step) == STEPS[kind][direction == "load"]
    if direction == "dump":
        assert step.why == ""


def test_no_kind_of_upstreams_is_forgotten() -> None:
    planned = {type(FIELDS[kind](ma)) for kind in STEPS}
    own = {
        value
        for value in vars(fields).values()
        if isinstance(value, type)
        and issubclass(value, fields.Field)
        and value.__module__ == fields.__name__
    }
    left = {cls.__name__ for cls in own - planned}
    # Abstract ones.
    assert left == {"Field", "Number", "Mapping", "_TemporalField"}


@pytest.mark.parametrize("kind", STEPS)
def test_a_subclass_that_overrides_nothing_is_as_good(kind: str) -> None:
    field = FIELDS[kind](ma)
    field.__class__ = type("Own", (type(field),), {"note": 1, "helper": lambda self: 1})
    assert as_text(step_of(field)) == STEPS[kind][0]


@pytest.mark.parametrize("kind", STEPS)
def test_a_subclass_that_overrides_serialize(kind: str) -> None:
    field = FIELDS[kind](ma)
    field.__class__ = type("Own", (type(field),), {"_serialize": lambda *args, **kwargs: 1})
    step = step_of(field)
    assert as_text(step) == "field's own _serialize"
    assert not step.narrow
    assert step.why.startswith("_serialize is overridden by ")


def own(cls: Any, **namespace: Any) -> Any:
    return type("Own", (cls,), {"__module__": __name__, **namespace})


def having(field: Any, **state: Any) -> Any:
    vars(field).update(state)
    return field


def no_such(self: Any, name: str) -> Any:
    raise AttributeError(name)


WHY: dict[str, tuple[Make, str, str]] = {
    "serialize of the class": (
        lambda: own(fields.Raw, serialize=lambda *args, **kwargs: 1)(),
        "field's own serialize",
        f"serialize is overridden by {__name__}.Own",
    ),
    "serialize of the instance": (
        lambda: having(fields.Raw(), serialize=lambda *args, **kwargs: 1),
        "field's own serialize",
        "serialize is set on the field instance",
    ),
    "_serialize of the instance": (
        lambda: having(fields.Integer(), _serialize=lambda *args, **kwargs: 1),
        "field's own _serialize",
        "_serialize is set on the field instance",
    ),
    "__getattribute__": (
        lambda: own(fields.Raw, __getattribute__=object.__getattribute__)(),
        "as it is",
        "",
    ),
    "__getattr__": (
        lambda: own(fields.Raw, __getattr__=no_such)(),
        "field's own serialize",
        f"__getattr__ is defined by {__name__}.Own",
    ),
    "attribute that is computed": (
        lambda: own(fields.Raw, attribute=property(lambda s: "x", lambda s, value: None))(),
        "field's own serialize",
        f"attribute is a descriptor of {__name__}.Own",
    ),
    "attribute that is no text": (
        lambda: fields.Raw(attribute=3),
        "field's own serialize",
        "attribute is a int",
    ),
    "_CHECK_ATTRIBUTE that is no bool": (
        lambda: own(fields.Raw, _CHECK_ATTRIBUTE=1)(),
        "field's own serialize",
        "_CHECK_ATTRIBUTE is neither True nor False",
    ),
    "another number": (
        lambda: own(fields.Integer, num_type=complex)(),
        "field's own _serialize",
        "num_type is complex",
    ),
    "a number's own format": (
        lambda: own(fields.Integer, _format_num=lambda self, value: value)(),
        "field's own _serialize",
        f"_format_num is overridden by {__name__}.Own",
    ),
    "as_string that is no bool": (
        lambda: fields.Integer(as_string=1),
        "field's own _serialize",
        "as_string is neither True nor False",
    ),
    "format that is no text": (
        lambda: fields.DateTime(format=b"iso"),
        "field's own _serialize",
        "format is a bytes",
    ),
    "formats of another type": (
        lambda: own(fields.DateTime, SERIALIZATION_FUNCS=OrderedDict())(),
        "field's own _serialize",
        "SERIALIZATION_FUNCS is no plain dictionary",
    ),
    "another mapping": (
        lambda: own(fields.Dict, mapping_type=OrderedDict)(),
        "field's own _serialize",
        "mapping_type is not dict",
    ),
    "another unit": (
        lambda: own(fields.TimeDelta, _unit_to_microseconds_mapping={"seconds": 1.5})(),
        "field's own _serialize",
        "the unit 'seconds' is no number of microseconds",
    ),
    "schema of Pluck overridden": (
        lambda: own(fields.Pluck, schema=property(lambda self: None))({}, "a"),
        "field's own _serialize",
        f"schema is overridden by {__name__}.Own",
    ),
}


@pytest.mark.parametrize("case", WHY)
def test_the_reason(case: str) -> None:
    make, kind, why = WHY[case]
    step = step_of(make())
    assert (step.label, step.why) == (kind, why)


@pytest.mark.parametrize(
    ("namespace", "why"),
    [
        ({"data_key": property(lambda self: "k", lambda self, value: None)}, "is a descriptor of"),
        ({"__getattribute__": object.__getattribute__}, ""),
        (
            {"__getattribute__": lambda self, name: object.__getattribute__(self, name)},
            "__getattribute__ is overridden by",
        ),
    ],
)
def test_a_key_that_the_field_computes_leaves_no_plan(namespace: Any, why: str) -> None:
    plan = planner.build(schema_of(ma, {"f": own(fields.Raw, **namespace)()}))
    assert why in plan.declined
    assert bool(why) == bool(plan.declined)


def test_a_setting_that_the_class_computes_leaves_no_plan() -> None:
    class Computed(ma.Schema):
        many = property(lambda self: False, lambda self, value: None)
        f = fields.Raw()

    assert (
        planner.build(Computed()).declined
        == f"many is computed by {__name__}.{Computed.__qualname__}"
    )
    assert Computed().dump({"f": 1}) == {"f": 1}


def test_the_reason_for_an_inner_field_that_is_none() -> None:
    schema = schema_of(ma, {"f": fields.List(fields.Raw())})
    schema.fields["f"].inner = 3
    (step,) = planner.build(schema).steps
    assert (step.label, step.why) == ("field's own _serialize", "an inner field is a int")


def test_a_field_of_the_users_costs_itself_alone() -> None:
    plan = planner.build(
        schema_of(
            ma,
            {
                "a": fields.Integer(),
                "b": own(fields.Integer, _serialize=lambda *args, **kwargs: 1)(),
                "c": fields.List(own(fields.Integer, serialize=lambda *args, **kwargs: 1)()),
            },
        )
    )
    assert [as_text(step) for step in plan.steps] == [
        "int",
        "field's own _serialize",
        "list(items: int)",
    ]


def make_dict() -> dict[str, Any]:
    return {}


DECLINED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "dump_fields of another type": (
        lambda schema: vars(schema).update(dump_fields=own(dict, items=None)()),
        "dump_fields is a Own",
    ),
    "a name that is no text": (
        lambda schema: schema.dump_fields.update({3: fields.Raw()}),
        "a field's name is a int",
    ),
    "no field": (lambda schema: schema.dump_fields.update(x=3), "'x' is no field but a int"),
    "dict_class that is no class": (
        lambda schema: vars(schema).update(dict_class=make_dict),
        "dict_class is no class",
    ),
    "hooks that are no table": (lambda schema: vars(schema).update(_hooks=[]), "_hooks is a list"),
}


@pytest.mark.parametrize("case", DECLINED)
def test_a_schema_that_declines(case: str) -> None:
    change, reason = DECLINED[case]
    schema = schema_of(ma, {"a": fields.Raw()})
    change(schema)
    plan = planner.build(schema)
    assert plan.declined == reason
    assert plan.steps == ()
    assert not plan.whole


def test_what_a_plan_may_stand_for() -> None:
    def serialize(self: Any, obj: Any, *, many: bool = False) -> Any:
        return ma.Schema._serialize(self, obj, many=many)

    def dump(self: Any, obj: Any, *, many: bool | None = None) -> Any:
        return ma.Schema.dump(self, obj, many=many)

    def flags(**namespace: Any) -> tuple[bool, bool, bool]:
        plan = planner.build(own(ma.Schema, a=fields.Raw(), **namespace)())
        return plan.whole, plan.nestable, plan.many_allowed

    assert flags() == (True, True, True)
    assert flags(dump=dump) == (True, False, True)
    assert flags(_serialize=serialize) == (False, False, False)
    assert flags(_invoke_dump_processors=lambda *args, **kwargs: 1) == (False, False, True)


def test_what_upstreams_fields_keep_is_known() -> None:
    made = [make(ma) for make in FIELDS.values()]
    assert set().union(*map(vars, made)) <= KEPT
