"""What is done with a schema: calls, changes between them, copies; drawn at random."""

import collections  # noqa: F401
import copy  # noqa: F401

from hypothesis import strategies as st

from tests.strategies import data, schemas
from tests.strategies.schemas import NAMES, OVERRIDES, SCHEMA_OVERRIDES, VALIDATORS

LOADABLE = [
    *("dict", "ordered-dict", "defaultdict", "mapping", "mapping-proxy", "multidict", "dict-like"),
    *("namespace", "none", "list"),
]

names = st.sampled_from(NAMES)
flags = st.sampled_from([None, None, True, False])

load_options = st.fixed_dictionaries(
    {},
    optional={
        "partial": st.sampled_from([True, False, (), ("a",), ("a.a", "b"), ["c"]]),
        "unknown": st.sampled_from(["raise", "exclude", "include"]),
    },
)


def _calls(schema):
    objects = data.objects_for(schema)
    inputs = data.objects_for(schema, kinds=LOADABLE)
    many = st.lists(objects, max_size=3)
    many_inputs = st.lists(inputs, max_size=3)
    return st.one_of(
        st.tuples(st.just("dump"), objects, flags),
        st.tuples(st.just("dump"), st.tuples(st.just("list"), many), st.just(True)),
        st.tuples(st.just("load"), inputs, flags, load_options),
        st.tuples(
            st.just("load"), st.tuples(st.just("list"), many_inputs), st.just(True), load_options
        ),
        st.tuples(st.just("validate"), inputs, flags),
    )


overrides, methods = st.sampled_from(OVERRIDES), st.sampled_from(SCHEMA_OVERRIDES)
defaults = st.sampled_from(["missing", "none", "text", "list()"])
CHANGES = {
    "field.data_key = value": st.sampled_from([None, "", "a", "new"]),
    "field.attribute = value": st.sampled_from([None, "b", "x.y"]),
    "field.dump_default = schemas.default(ma, value)": defaults,
    "field.load_default = schemas.default(ma, value)": defaults,
    "field.required = value": st.booleans(),
    "field.allow_none = value": st.booleans(),
    "field.validators.append(VALIDATORS[value](ma))": st.sampled_from(sorted(VALIDATORS)),
    "field.validators.clear()": st.none(),
    "field.error_messages[value] = 'changed'": st.sampled_from(["invalid", "required", "null"]),
    "put(schema, name, schemas.build_field(ma, log, value))": schemas.simple_fields,
    "put(schema, 'new', schemas.build_field(ma, log, value))": schemas.simple_fields,
    "getattr(schema, value).pop(name)": st.sampled_from(["dump_fields", "load_fields", "fields"]),
    "field.__class__ = type('Changed', (type(field),), {})": st.none(),
    "log.patch(type(field), value, own(type(field)))": overrides,
    "setattr(field, value, own(type(field)).__get__(field))": overrides,
    "setattr(cls, value, own(ma.Schema))": methods,
    "setattr(schema, value, own(ma.Schema).__get__(schema))": methods,
    "schema.many = value": st.booleans(),
    "schema.unknown = value": st.sampled_from(["raise", "exclude", "include"]),
    "schema.partial = value": st.sampled_from([True, None, ("a",)]),
    "schema.dict_class = collections.OrderedDict": st.none(),
    "for each in field.schema.fields.values(): each.data_key = f'key of {each.name}'": st.none(),
    "cls._declared_fields[name].data_key = 'declared'": st.none(),
    "spy(ma, log, value)": st.sampled_from(["Integer", "String", "Field", "Nested"]),
    "schema = cls(**value)": schemas.instances,
    "schema = copy.copy(schema)": st.none(),
    "schema = copy.deepcopy(schema)": st.none(),
}
"""Statements, and what is drawn for ``value``; ``field`` is the field of a drawn ``name``."""
changes = st.one_of(
    *(st.tuples(st.just(change), names, values) for change, values in CHANGES.items())
)


def put(schema, name, field):
    field._bind_to_schema(name, schema)
    for fields in (schema.fields, schema.dump_fields, schema.load_fields):
        fields[name] = field


def spy(ma, log, name):
    kind = getattr(ma.fields, name)
    for method in ("_serialize", "_deserialize"):
        log.patch(kind, method, schemas.logged(log, method, getattr(kind, method)))


@st.composite
def programs(draw):
    """A schema class, the options of an instance, and what is done with it."""
    schema = draw(schemas.schemas)
    calls = _calls(schema)
    repeated = calls.map(lambda call: ("twice", call))
    steps = st.lists(
        st.one_of(calls, repeated, st.tuples(st.just("change"), changes)), min_size=1, max_size=8
    )
    return {"schema": schema, "options": draw(schemas.instances), "steps": draw(steps)}


def run_program(ma, log, program):
    """Do what a program says with library ``ma``, recording what comes of it."""
    try:
        cls = schemas.build_schema(ma, log, program["schema"])
        schema = cls(**program["options"])
    except Exception as error:
        log("not made", error)
        return
    for step in program["steps"]:
        schema = _step(ma, log, cls, schema, step)
    log("vars", sorted(vars(schema)))


def _step(ma, log, cls, schema, step):
    sort, *rest = step
    log(sort)
    if sort == "twice":
        _step(ma, log, cls, schema, rest[0])
        return _step(ma, log, cls, schema, rest[0])
    if sort == "change":
        change, name, value = rest[0]

        def own(owner, name=value):
            return schemas.logged(log, name, getattr(owner, name))

        given = {"ma": ma, "log": log, "cls": cls, "schema": schema, "name": name, "own": own}
        given |= {"field": schema.fields.get(name), "value": value}
        log.attempt(exec, change, globals() | given, given)
        return given["schema"]
    value = log.watch(data.build_value(rest[0]))
    options = dict(rest[2]) if len(rest) > 2 else {}
    log.attempt(getattr(schema, sort), value, many=rest[1], **options)
    return schema
