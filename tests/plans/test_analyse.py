"""Which step each field gets, and why where it is not its kind's own."""

from collections import OrderedDict  # noqa: F401

import pytest

from althaia import marshmallow as ma
from althaia.engine import planner
from althaia.engine.analysis import KEPT
from tests.conformance.material import FIELDS, schema_of

fields = ma.fields


def step_of(field, direction="dump"):
    (step,) = planner.build(schema_of(ma, {"f": field}), direction).steps
    return step


def as_text(step):
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
def test_upstreams_own_kinds(kind, direction):
    step = step_of(FIELDS[kind](ma), direction)
    assert as_text(step) == STEPS[kind][direction == "load"]
    if direction == "dump":
        assert step.why == ""


@pytest.mark.parametrize("kind", STEPS)
def test_a_subclass_that_overrides_nothing_is_as_good(kind):
    field = FIELDS[kind](ma)
    field.__class__ = type("Own", (type(field),), {"note": 1, "helper": lambda self: 1})
    assert as_text(step_of(field)) == STEPS[kind][0]


@pytest.mark.parametrize("kind", STEPS)
def test_a_subclass_that_overrides_serialize(kind):
    field = FIELDS[kind](ma)
    field.__class__ = type("Own", (type(field),), {"_serialize": lambda *args, **kwargs: 1})
    step = step_of(field)
    assert as_text(step) == "field's own _serialize"
    assert not step.narrow
    assert step.why.startswith("_serialize is overridden by ")


def own(cls, **namespace):
    return type("Own", (cls,), {"__module__": __name__, **namespace})


def having(field, **state):
    vars(field).update(state)
    return field


def computed(answer):
    return property(lambda self: answer, lambda self, value: None)


def no_such(self, name):
    raise AttributeError(name)


LEFT = "field's own _serialize"
WHOLE = "field's own serialize"
WHY = [
    ("own(Raw, serialize=lambda *args, **kwargs: 1)()", WHOLE, "serialize is overridden by OWN"),
    ("having(Raw(), serialize=lambda *args: 1)", WHOLE, "serialize is set on the field instance"),
    ("having(Integer(), _serialize=int)", LEFT, "_serialize is set on the field instance"),
    ("own(Raw, __getattribute__=object.__getattribute__)()", "as it is", ""),
    ("own(Raw, __getattr__=no_such)()", WHOLE, "__getattr__ is overridden by OWN"),
    ("own(Raw, attribute=computed('x'))()", WHOLE, "attribute is a descriptor of OWN"),
    ("Raw(attribute=3)", WHOLE, "attribute is a int"),
    ("own(Raw, _CHECK_ATTRIBUTE=1)()", WHOLE, "_CHECK_ATTRIBUTE is a int"),
    ("own(Integer, num_type=complex)()", LEFT, "num_type is complex"),
    ("own(Integer, _format_num=lambda *args: 1)()", LEFT, "_format_num is overridden by OWN"),
    ("Integer(as_string=1)", LEFT, "as_string is a int"),
    ("DateTime(format=b'iso')", LEFT, "format is a bytes"),
    (
        "own(DateTime, SERIALIZATION_FUNCS=OrderedDict())()",
        *(LEFT, "SERIALIZATION_FUNCS is a OrderedDict"),
    ),
    ("own(Dict, mapping_type=OrderedDict)()", LEFT, "mapping_type is not dict"),
    (
        "own(TimeDelta, _unit_to_microseconds_mapping={'seconds': 1.5})()",
        *(LEFT, "the unit 'seconds' is no number of microseconds"),
    ),
    ("own(Pluck, schema=computed(None))({}, 'a')", LEFT, "schema is overridden by OWN"),
]


@pytest.mark.parametrize(("made", "kind", "why"), WHY)
def test_the_reason(made, kind, why):
    step = step_of(eval(made, {**globals(), **vars(fields)}))
    assert (step.label, step.why) == (kind, why.replace("OWN", f"{__name__}.Own"))


def test_the_reason_for_an_inner_field_that_is_none():
    schema = schema_of(ma, {"f": fields.List(fields.Raw())})
    schema.fields["f"].inner = 3
    (step,) = planner.build(schema).steps
    assert (step.label, step.why) == (LEFT, "an inner field is a int")


@pytest.mark.parametrize(
    ("namespace", "why"),
    [
        ({"data_key": computed("k")}, "is a descriptor of"),
        ({"__getattribute__": object.__getattribute__}, ""),
        (
            {"__getattribute__": lambda self, name: object.__getattribute__(self, name)},
            "__getattribute__ is overridden by",
        ),
    ],
)
def test_a_key_that_the_field_computes_leaves_no_plan(namespace, why):
    plan = planner.build(schema_of(ma, {"f": own(fields.Raw, **namespace)()}))
    assert why in plan.declined
    assert bool(why) == bool(plan.declined)


def test_a_setting_that_the_class_computes_leaves_no_plan():
    cls = own(ma.Schema, many=computed(False), f=fields.Raw())
    assert planner.build(cls()).declined == f"many is computed by {__name__}.Own"
    assert cls().dump({"f": 1}) == {"f": 1}


def test_a_field_of_the_users_costs_itself_alone():
    own_serialize = own(fields.Integer, _serialize=lambda *args, **kwargs: 1)()
    inner = own(fields.Integer, serialize=lambda *args, **kwargs: 1)()
    made = {"a": fields.Integer(), "b": own_serialize, "c": fields.List(inner)}
    steps = planner.build(schema_of(ma, made)).steps
    assert [as_text(step) for step in steps] == ["int", LEFT, "list(items: int)"]


DECLINED = [
    ("schema.dump_fields = own(dict, items=None)()", "dump_fields is a Own"),
    ("schema.dump_fields.update({3: fields.Raw()})", "a field's name is a int"),
    ("schema.dump_fields.update(x=3)", "'x' is no field but a int"),
    ("schema.dict_class = lambda: {}", "dict_class is no class"),
    ("schema._hooks = []", "_hooks is a list"),
]


@pytest.mark.parametrize(("change", "reason"), DECLINED)
def test_a_schema_that_declines(change, reason):
    schema = schema_of(ma, {"a": fields.Raw()})
    exec(change, {**globals(), "schema": schema})
    plan = planner.build(schema)
    assert (plan.declined, plan.steps, plan.whole) == (reason, (), False)


def test_what_a_plan_may_stand_for():
    def serialize(self, obj, *, many=False):
        return ma.Schema._serialize(self, obj, many=many)

    def dump(self, obj, *, many=None):
        return ma.Schema.dump(self, obj, many=many)

    def flags(**namespace):
        plan = planner.build(own(ma.Schema, a=fields.Raw(), **namespace)())
        return plan.whole, plan.nestable, plan.many_allowed

    assert flags() == (True, True, True)
    assert flags(dump=dump) == (True, False, True)
    assert flags(_serialize=serialize) == (False, False, False)
    assert flags(_invoke_dump_processors=lambda *args, **kwargs: 1) == (False, False, True)


def test_what_upstreams_fields_keep_is_known():
    made = [make(ma) for make in FIELDS.values()]
    assert set().union(*map(vars, made)) <= KEPT
