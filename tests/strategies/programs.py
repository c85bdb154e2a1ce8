"""What is done with a schema: calls, changes between them, copies; drawn at random."""

import collections
import copy

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


modes, overrides = st.sampled_from(["raise", "exclude", "include"]), st.sampled_from(OVERRIDES)
methods = st.sampled_from(SCHEMA_OVERRIDES)
CHANGES = {
    "data_key": (names, st.sampled_from([None, "", "a", "new"])),
    "attribute": (names, st.sampled_from([None, "b", "x.y"])),
    "dump_default": (names, st.sampled_from(["missing", "none", "list()"])),
    "load_default": (names, st.sampled_from(["missing", "none", "text"])),
    "required": (names, st.booleans()),
    "allow_none": (names, st.booleans()),
    "validator": (names, st.sampled_from(sorted(VALIDATORS))),
    "no-validators": (names,),
    "message": (names, st.sampled_from(["invalid", "required", "null"])),
    "replace": (names, schemas.simple_fields),
    "remove": (names, st.sampled_from(["dump_fields", "load_fields", "fields"])),
    "add": (st.sampled_from(["new", "a"]), schemas.simple_fields),
    "class": (names,),
    "method": (names, overrides),
    "own-method": (names, overrides),
    "schema-method": (methods,),
    "schema-own-method": (methods,),
    "many": (st.booleans(),),
    "unknown": (modes,),
    "partial": (st.sampled_from([True, None, ("a",)]),),
    "dict_class": (),
    "nested-key": (names,),
    "declared": (names,),
    "library-method": (st.sampled_from(["Integer", "String", "Field", "Nested"]),),
    "instance": (schemas.instances,),
    "copy": (),
    "deepcopy": (),
}
changes = st.one_of(*(st.tuples(st.just(sort), *given) for sort, given in CHANGES.items()))


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
        changed = log.attempt(lambda: _change(ma, log, cls, schema, *rest[0]) and None)
        if not isinstance(changed, Exception) and rest[0][0] in ("copy", "deepcopy"):
            return getattr(copy, rest[0][0])(schema)
        if not isinstance(changed, Exception) and rest[0][0] == "instance":
            made = log.attempt(cls, **rest[0][1])
            return schema if isinstance(made, Exception) else made
        return schema
    value = log.watch(data.build_value(rest[0]))
    options = dict(rest[2]) if len(rest) > 2 else {}
    log.attempt(getattr(schema, sort), value, many=rest[1], **options)
    return schema


def _change(ma, log, cls, schema, sort, *args):
    field = schema.fields[args[0]] if args and args[0] in schema.fields else None
    kind = type(field)
    if sort in ("replace", "add"):
        made = schemas.build_field(ma, log, args[1])
        made._bind_to_schema(args[0], schema)
        for name in ("fields", "dump_fields", "load_fields"):
            getattr(schema, name)[args[0]] = made
    elif sort == "remove":
        getattr(schema, args[1]).pop(args[0], None)
    elif sort == "schema-method":
        setattr(cls, args[0], schemas.logged(log, args[0], getattr(ma.Schema, args[0])))
    elif sort == "schema-own-method":
        method = schemas.logged(log, args[0], getattr(ma.Schema, args[0]))
        setattr(schema, args[0], method.__get__(schema))
    elif sort in ("many", "unknown", "partial"):
        setattr(schema, sort, args[0])
    elif sort == "dict_class":
        schema.dict_class = collections.OrderedDict
    elif sort == "declared" and args[0] in cls._declared_fields:
        cls._declared_fields[args[0]].data_key = "declared"
    elif sort == "library-method":
        kind = getattr(ma.fields, args[0])
        for name in ("_serialize", "_deserialize"):
            log.patch(kind, name, schemas.logged(log, name, getattr(kind, name)))
    elif field is None:
        return
    elif sort in ("data_key", "attribute", "required", "allow_none"):
        setattr(field, sort, args[1])
    elif sort in ("dump_default", "load_default"):
        setattr(field, sort, schemas.default(ma, args[1]))
    elif sort == "validator":
        field.validators.append(VALIDATORS[args[1]](ma))
    elif sort == "no-validators":
        field.validators.clear()
    elif sort == "message":
        field.error_messages[args[1]] = "changed"
    elif sort == "class":
        field.__class__ = type("Changed", (kind,), {})
    elif sort == "method" and hasattr(kind, args[1]):
        log.patch(kind, args[1], schemas.logged(log, args[1], getattr(kind, args[1])))
    elif sort == "own-method" and hasattr(kind, args[1]):
        method = schemas.logged(log, args[1], getattr(kind, args[1]))
        setattr(field, args[1], method.__get__(field))
    elif sort == "nested-key" and hasattr(field, "nested"):
        for inner in field.schema.fields.values():
            inner.data_key = f"key of {inner.name}"
