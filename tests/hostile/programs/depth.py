"""Everything that recurses, ever deeper, on a stack of a given size."""

import copy
import gc
import threading
from collections.abc import Callable
from types import SimpleNamespace

from tests.hostile.programs import arguments, begin, library, report

LIBRARY, STACK, *LEVELS = arguments()
m = library(LIBRARY)
fields = m.fields

Case = Callable[[int], object]
CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


# To be freed on the main thread's stack: CPython 3.13 goes thousands of levels deep for that.
KEPT = []


def nested(levels, wrap, leaf):
    for _ in range(levels):
        leaf = wrap(leaf)
    KEPT.append(leaf)
    return leaf


def to_a(value):
    return {"a": value, "b": 1}


def linked(build, **more):
    """A schema whose field ``a`` holds the schema again, the way ``build`` says."""

    class Linked(m.Schema):
        a = build(lambda: Linked())
        b = fields.Integer()

        locals().update(more)

    return Linked


def plain(target):
    return fields.Nested(target, allow_none=True)


FORMS = {
    "dict": (plain, to_a, {"b": 1}),
    "list": (lambda schema: fields.List(fields.Nested(schema)), lambda x: to_a([x]), {"b": 1}),
    "many": (lambda schema: fields.Nested(schema, many=True), lambda x: to_a([x]), {"b": 1}),
    "mapping": (
        lambda schema: fields.Dict(values=fields.Nested(schema)),
        lambda x: to_a({"k": x}),
        {"b": 1},
    ),
    "tuple": (lambda schema: fields.Tuple((fields.Nested(schema),)), lambda x: to_a((x,)), {}),
}


def form(name, load=False):
    build, wrap, leaf = FORMS[name]

    def work(levels):
        schema, data = linked(build)(), nested(levels, wrap, leaf)
        (schema.load if load else schema.dump)(data)

    return work


CASES |= {f"dump_{name}": form(name) for name in FORMS}
CASES |= {f"load_{name}": form(name, load=True) for name in FORMS}


@case
def dump_object(levels):
    linked(plain)().dump(nested(levels, lambda x: SimpleNamespace(a=x, b=1), None))


@case
def dump_after_failing(levels):
    """A plan that ran out of stack still works."""
    schema, data, small = linked(plain)(), nested(levels, to_a, {"b": 1}), to_a({"b": 1})
    try:
        schema.dump(data)
    finally:
        assert schema.dump(small) == small


@case
def dump_cycle(levels):
    ring = SimpleNamespace(b=1)
    ring.a = ring if levels > 100 else None
    linked(plain)().dump(ring)


@case
def dump_pluck(levels):
    schema = linked(lambda target: fields.Pluck(target, "a"))()
    schema.dump(nested(levels, to_a, {"a": None, "b": 1}))


def hook(call):
    return lambda self, data, **kwargs: call(data) or data


# How user code calls the schema again, by ``call(value)``, which gives nothing where there is no
# further level.
AGAIN = {
    "dump_method": lambda call: {
        "a": fields.Method("child"), "child": lambda self, obj: call(obj),
    },
    "dump_function": lambda call: {"a": fields.Function(call)},
    "dump_in_post_dump": lambda call: {"a": fields.Raw(), "again": m.post_dump(hook(call))},
    "dump_get_attribute": lambda call: {
        "a": fields.Raw(), "get_attribute": lambda self, obj, attr, default: call(obj),
    },
    "dump_custom_field": lambda call: {
        "a": type("Child", (fields.Field,), {
            "_serialize": lambda self, value, attr, obj, **kwargs: call(obj),
        })(),
    },
    "load_in_hooks": lambda call: {"a": fields.Raw(), "inner": m.pre_load(hook(call))},
    "load_in_validator": lambda call: {
        "a": fields.Raw(validate=lambda value: call({"a": value}) and None),
    },
    "load_in_schema_validator": lambda call: {
        "a": fields.Raw(), "check": m.validates_schema(hook(call)),
    },
    "load_in_custom_field": lambda call: {
        "a": type("Child", (fields.Field,), {
            "_deserialize": lambda self, value, attr, data, **kwargs: call({"a": value}),
        })(),
    },
}  # fmt: skip


def again(name):
    direction = name.partition("_")[0]

    def call(obj):
        return getattr(schema_class[0](), direction)(obj["a"]) if obj.get("a") else None

    schema_class = [type("Schema", (m.Schema,), AGAIN[name](call))]
    return lambda levels: getattr(schema_class[0](), direction)(
        nested(levels, lambda value: {"a": value}, {})
    )


CASES |= {name: again(name) for name in AGAIN}


@case
def dump_in_property(levels):
    Schema = type("Schema", (m.Schema,), {"a": fields.Raw()})
    schema = Schema()

    class Item:
        def __init__(self, inner):
            self.inner = inner

        @property
        def a(self):
            return self.inner and schema.dump(self.inner)

    schema.dump(nested(levels, Item, None))


@case
def load_partial(levels):
    linked(plain)().load(nested(levels, to_a, {"b": 1}), partial=("a.b", "b"))


def refused(name, wrap, leaf):
    def work(levels):
        assert linked(FORMS[name][0])().validate(nested(levels, wrap, leaf))

    return work


CASES |= {
    "load_wrong_leaf": refused("dict", to_a, {"b": "x"}),
    "load_wrong_everywhere": refused("dict", lambda x: {"a": x, "b": "x"}, {"b": "x"}),
    "load_unknown_everywhere": refused("dict", lambda x: {"a": x, "c": 1}, {"b": 1}),
    "load_wrong_in_lists": refused("list", lambda x: to_a([1, x]), {"b": "x"}),
}


def deep_list(levels):
    return nested(levels, lambda inner: fields.List(inner), fields.Integer())


@case
def list_of_lists(levels):
    schema = m.Schema.from_dict({"a": deep_list(levels)})()
    data = {"a": nested(levels, lambda x: [x], 1)}
    schema.dump(data)
    schema.load(data)


@case
def copies_of_deep_fields(levels):
    schema = m.Schema.from_dict({"a": deep_list(levels)})()
    copy.copy(schema)
    copy.deepcopy(schema)


@case
def fields_within_themselves(levels):
    made = [
        fields.List(fields.Integer(), allow_none=True),
        fields.Tuple([fields.Integer()], allow_none=True),
        fields.Dict(values=fields.Integer(), allow_none=True),
    ]
    made[0].inner, made[1].tuple_fields, made[2].value_field = made[0], made[1:2], made[2]
    for field, wrap in zip(made, (lambda x: [x], lambda x: [x], lambda x: {"k": x}), strict=True):
        value = nested(levels, wrap, None)
        said = {
            attempt(lambda field=field, value=value: field._serialize(value, None, None)),
            attempt(lambda field=field, value=value: field.deserialize(value)),
        }
        assert said == {"ok"} if levels < 100 else said <= {"ok", "RecursionError"}, said


@case
def validators_in_validators(levels):
    check = nested(levels, lambda inner: m.validate.And(inner), m.validate.Range(min=0))
    check(1)
    repr(check)


@case
def dotted_attribute(levels):
    schema = m.Schema.from_dict({"a": fields.Integer(attribute=".".join(["a"] * levels))})()
    schema.load({"a": 1})
    schema.dump({"a": 1})


def long_path(option):
    class Tolerant(m.Schema):
        class Meta:
            unknown = m.EXCLUDE

        a = fields.Nested(lambda: Tolerant, allow_none=True)
        b = fields.Integer()

    def work(levels):
        schema, data = Tolerant(**{option: ["a." * levels + "b"]}), nested(levels, to_a, {"b": 1})
        schema.dump(data)
        schema.load(data)

    return work


CASES |= {f"{option}_with_a_long_path": long_path(option) for option in ("only", "exclude")}


@case
def deep_messages(levels):
    def check(value):
        raise m.ValidationError(nested(levels, lambda x: {"a": x}, ["wrong"]))

    schema = m.Schema.from_dict({"a": fields.Raw(validate=[check, lambda value: check(value)])})()
    assert schema.validate({"a": 1})


@case
def schema_made_while_binding(levels):
    left = [levels]

    class Schema(m.Schema):
        a = fields.Nested(lambda: Schema(), allow_none=True)

        def on_bind_field(self, name, field):
            left[0] -= 1
            if left[0] > 0:
                _ = field.schema

    Schema()


if LIBRARY != "upstream":

    @case
    def explained(levels):
        import althaia

        schema = m.Schema.from_dict({"a": deep_list(levels)})()
        althaia.explain(schema).as_text()


def attempt(action):
    try:
        action()
    except RecursionError:
        return "RecursionError"
    return "ok"


def one(function, levels):
    try:
        return attempt(lambda: function(levels))
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:300]


def on_its_stack(action):
    if int(STACK):
        threading.stack_size(int(STACK) * 1024)
        thread = threading.Thread(target=action)
        thread.start()
        thread.join()
    else:
        action()


def climb(what, function, levels):
    begin(what)
    on_its_stack(lambda: report(what, one(function, levels)))
    KEPT.clear()
    gc.collect()


gc.disable()
for name, function in CASES.items():
    for levels in LEVELS:
        climb(f"{name} {levels}", function, int(levels))
    # After all that, the library still does small things.
    climb(f"{name} again", function, 3)
