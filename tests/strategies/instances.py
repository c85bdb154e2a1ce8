"""Several instances of one schema class: made, used, looked into, changed and copied in any
order, while the class, its fields' classes and upstream's helpers change; drawn at random."""

import copy  # noqa: F401
import pickle  # noqa: F401

from hypothesis import strategies as st

DATA = [
    {"a": "1", "m": 2, "n": {"x": "3"}, "l": [{"x": 5}], "t": (1, {"x": 2}), "d": {"k": {"x": 1}}},
    {"a": "x", "n": 3, "l": [{"y": 1}], "t": [1, {"x": 2}], "p": 4, "z": 5},
    {},
]

FIELDS = {
    "a": lambda ma, inner: ma.fields.Integer(data_key="A"),
    "b": lambda ma, inner: ma.fields.DateTime(load_only=True),
    "m": lambda ma, inner: ma.fields.Method("get_m", "get_m"),
    "n": lambda ma, inner: ma.fields.Nested(inner, only=("x",)),
    "f": lambda ma, inner: ma.fields.Nested(lambda: inner(), many=True),
    "s": lambda ma, inner: ma.fields.Nested(inner(exclude=("y",))),
    "l": lambda ma, inner: ma.fields.List(ma.fields.Nested(inner)),
    "t": lambda ma, inner: ma.fields.Tuple([ma.fields.Integer(), ma.fields.Nested(inner)]),
    "d": lambda ma, inner: ma.fields.Dict(values=ma.fields.Nested(inner)),
    "p": lambda ma, inner: ma.fields.Pluck(inner, "x"),
}

METHODS = {
    "plain": lambda self: type(self).__name__,
    "looking": lambda self: [field.parent is self for field in self.fields.values()],
    "optional": lambda self: [self.only, sorted(self.exclude), self.many],
}

LOOKS = [
    "list(schema.fields)", "sorted(vars(schema))", "schema.only", "repr(schema)",
    "schema.fields['n'].schema.fields['x'].root is schema", "len(schema.__getstate__())",
]  # fmt: skip

CHANGES = [
    "schema.fields['a'].data_key = 'changed'",
    "schema.declared_fields['l'].inner.required = True",
    "schema.fields['n'].schema.fields['x'].data_key = 'X'",
    "schema.fields['a'].validators.append(lambda value: None)",
    "schema.dump_fields.pop('a')",
    "schema.load_fields = {}",
    "schema.many = True",
    "del schema.error_messages",
    "schema.__init__(only=('a',))",
    "schema.get_m = lambda value: 'own'",
    "schema.__class__ = type('Sub', (type(schema),), {})",
]

CLASS_CHANGES = [
    "cls._declared_fields['a'].data_key = 'late'",
    "cls._declared_fields['l'].inner.allow_none = True",
    "cls._declared_fields.pop('b')",
    "cls.opts.exclude = ('a',)",
    "del cls.get_m",
    "cls.fields = property(lambda self: {})",
    "cls.on_bind_field = lambda self, name, field: log('bound', name)",
    "_spy(ma, log, ma.fields.Integer, '_bind_to_schema')",
    "_spy(ma, log, ma.fields.Nested, '_serialize')",
    "_spy(ma, log, ma.fields.Integer, '_deserialize')",
    "_spy(ma, log, ma.utils, 'is_collection')",
    "_spy(ma, log, ma.schema, 'is_collection')",
]

COPIES = ["copy.copy(schema)", "copy.deepcopy(schema)", "pickle.dumps(schema) and schema"]

names = st.lists(st.sampled_from([*FIELDS, "n.x", "l.x", "d.x", "t.x", "z"]), max_size=3)
options = st.fixed_dictionaries(
    {},
    optional={
        "only": st.one_of(names, names.map(tuple), names.map(set)),
        "exclude": names,
        "load_only": names,
        "dump_only": names,
        "many": st.booleans(),
        "unknown": st.sampled_from(["include", "exclude"]),
        "partial": st.sampled_from([True, ("a",)]),
    },
)
numbers = st.integers(0, 7)
CALLS = [f"schema.{way}(DATA[{n}], many=False)" for way in ("dump", "load") for n in range(3)]
EXPRESSIONS = [CALLS, LOOKS, COPIES, ["cls()", "cls(**options)"]]
STATEMENTS = [CHANGES, CLASS_CHANGES]
steps = st.one_of(
    *(st.tuples(st.just(eval), st.sampled_from(group), numbers, options) for group in EXPRESSIONS),
    *(st.tuples(st.just(exec), st.sampled_from(group), numbers, options) for group in STATEMENTS),
)
programs = st.fixed_dictionaries(
    {
        "fields": st.lists(st.sampled_from(sorted(FIELDS)), min_size=1, unique=True),
        "method": st.sampled_from(sorted(METHODS)),
        "first": st.integers(0, 3),
        "steps": st.lists(steps, min_size=1, max_size=12),
    }
)


def _spy(ma, log, owner, name):
    original = getattr(owner, name)

    def method(*args, **kwargs):
        field = args[0] if isinstance(args[0], ma.fields.Field) else None
        log(name, getattr(field, "name", None), getattr(vars(field or log).get("root"), "is_", 0))
        return original(*args, **kwargs)

    log.patch(owner, name, method)


def show(log, schema):
    """An instance's attributes, and which of its fields are its own, its class's or bound."""
    log("vars", sorted(vars(schema)))
    declared = type(schema)._declared_fields
    for name, field in vars(schema).get("declared_fields", {}).items():
        log(name, sorted(vars(field)), field.parent is schema, field is declared.get(name))
        for part in ("inner", "value_field"):
            inner = getattr(field, part, None)
            if inner is not None:
                log(part, inner.parent is field, inner is getattr(declared.get(name), part, None))
                log("options", getattr(inner, "only", 0) is getattr(field, "only", 1))
        log("resolved", getattr(field, "_schema", None) is not None, getattr(field, "only", 0))


def run_program(ma, log, program):
    """Do what a program says with library ``ma``, recording what comes of it."""
    inner = ma.Schema.from_dict({"x": ma.fields.Integer(), "y": ma.fields.Raw()}, name="Inner")
    members = {name: FIELDS[name](ma, inner) for name in program["fields"]}
    shown = METHODS[program["method"]]
    members["get_m"] = lambda self, value: [getattr(self, "is_", None), shown(self)]
    cls = type("S", (ma.Schema,), members)
    schemas = [cls() for _ in range(program["first"])]
    for run, text, number, given in program["steps"]:
        if not schemas and "schema" in text:
            continue
        schema = schemas[number % len(schemas)] if schemas else None
        names = {"ma": ma, "log": log, "cls": cls, "schema": schema, "options": given}
        log("step", text, given)
        made = log.attempt(run, text, globals() | names)
        if isinstance(made, ma.Schema):
            made.is_ = len(schemas)
            schemas.append(made)
    for schema in schemas:
        log.attempt(show, log, schema)
        log.attempt(schema.dump, DATA[0], many=False)
        log.attempt(schema.load, DATA[0], many=False)
