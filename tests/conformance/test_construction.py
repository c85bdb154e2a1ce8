"""Instances built in full: what the user's code sees of one that is being made, and when."""

import contextlib
import copy

import pytest

from tests.conformance.material import state, written

pytestmark = pytest.mark.usefixtures("hooked_at_once")


def fields_of(ma):
    fields = ma.fields
    Inner = ma.Schema.from_dict({"x": fields.Int(), "y": fields.Str()})
    shared = fields.Int(metadata={"shared": True})
    return {
        "id": fields.Int(required=True, data_key="ID"),
        "name": fields.Str(validate=[]),
        "when": fields.DateTime(),
        "one": shared,
        "two": shared,
        "inner": fields.Nested(Inner),
        "many": fields.List(fields.Nested(Inner)),
        "pairs": fields.Dict(keys=fields.Str(), values=fields.Int()),
        "call": fields.Method("method"),
    }


def schema(ma, **members):
    members = {"method": lambda self, obj: type(self).__name__, **fields_of(ma), **members}
    return type("Made", (ma.Schema,), members)


HOOKS = written(
    {"copy": copy, "state": state}, "self, log, name, field",
    look="""log("bind", name, field.name, field.parent is self, field is self.declared_fields[name])
state(log, self)""",
    # The two are one field, which has one key.
    rename='if name not in ("one", "two"): field.data_key = name.upper()',
    collide='if name in ("name", "when"): field.data_key = "same"',
    collide_targets='if name in ("name", "when"): field.attribute = "same"',
    hide='field.load_only, field.dump_only = name == "name", name == "when"',
    add='self.declared_fields[f"{name}_more"] = copy.copy(field)',
    exchange='if name == "id": self.declared_fields["name"] = type(self)._declared_fields["one"]',
    remove='if name == "id": del self.declared_fields["when"]',
    replace_all="""if name == "id":
    self.declared_fields = dict(reversed(self.declared_fields.items()))""",
    mark='self.load_only.add("name"); self.dump_only.add("when")',
    odd_marks='if name == "id": field.load_only, field.dump_only = 1, "yes"',
    empty_names='if name == "id": field.data_key = field.attribute = ""',
    another_name='if name == "id": field.name = "given"',
    fail='if name == "when": raise LookupError(name)',
    keep='vars(self).setdefault("kept", []).append(field)',
    messages='self.error_messages = {"type": name}',
    class_changes="""type(self).error_messages = {"unknown": name}
type(self)._declared_fields = {"other": field}""",
)  # fmt: skip


EXAMINED = 12
"""The number of instances of a class before its construction is examined."""


def make_some(cls):
    for _ in range(EXAMINED):
        with contextlib.suppress(ValueError, LookupError):
            cls()


@pytest.mark.parametrize("later", [False, True], ids=["first", "later"])
@pytest.mark.parametrize("hook", HOOKS)
def test_on_bind_field(ma, log, hook, later):
    """Hooks that look, and hooks that change what is being bound."""
    cls = schema(ma, on_bind_field=lambda self, name, field: HOOKS[hook](self, log, name, field))
    if later:
        make_some(cls)
    obj = {"id": 1, "name": "n", "one": 1, "two": 2, "inner": {"x": 1}, "many": [{"y": "2"}]}
    marks = {"only": ("id", "name", "one"), "load_only": ("id",), "dump_only": {"one"}}
    for options in ({}, {"many": True}, {"partial": True, "unknown": "exclude"}, marks, {}):
        try:
            made = cls(**options)
        except (ValueError, LookupError) as error:
            log("refused", type(error), *error.args)
            continue
        state(log, made)
        log("dumped", log.attempt(made.dump, obj, many=False))
        log("loaded", log.attempt(made.load, {"ID": "1", "name": 2, "when": "x"}, many=False))


def count_name(self, value):
    if value is not None:
        vars(self)["name"] = f"{value}!"


FIELD_CHANGES = {
    "a computed key": {"data_key": property(lambda self: "K", lambda self, key: None)},
    "a computed name": {"name": property(lambda self: vars(self).get("name"), count_name)},
    "__setattr__ of object": {"__setattr__": object.__setattr__},
    "a name of the class": {"root": None},
    "own __deepcopy__": {"__deepcopy__": lambda self, memo: self},
    "own __copy__": {"__copy__": lambda self: self},
    "own __reduce_ex__": {"__reduce_ex__": lambda self, protocol: (ValueError, ("copied",))},
    "own __getstate__": {"__getstate__": lambda self: {"attribute": "copied"}},
    "own __setstate__": {"__setstate__": lambda self, state: vars(self).update(state, seen=1)},
    "own __getnewargs__": {"__getnewargs__": lambda self: ()},
    "own __new__": {"__new__": lambda cls, *args, **kwargs: object.__new__(cls)},
    "slots": {"__slots__": ("more",)},
    "own __getattr__": {"__getattr__": lambda self, name: "asked"},
    "own __bool__": {"__bool__": lambda self: False},
    "own __eq__": {"__eq__": lambda self, other: True, "__hash__": lambda self: 1},
}


COPYING = (
    "__deepcopy__", "__copy__", "__reduce_ex__", "__getstate__", "__setstate__", "__setattr__",
    "__getattribute__", "__getattr__", "_bind_to_schema", "__new__", "__eq__", "__bool__",
)  # fmt: skip


def taking_part(ma, log, name):
    """Members of a field class one of whose methods says that it is called, and goes on."""
    base = ma.fields.String

    def method(self, *args, **kwargs):
        if name not in ("__getattribute__", "__setattr__") or args[0] in ("name", "parent"):
            binds = name == "_bind_to_schema"
            log(name, *[args[0], self.parent is None, sorted(vars(args[1]))] if binds else ())
        if name == "__getattr__":
            raise AttributeError(args[0])
        if name == "__bool__":
            return True
        if name in ("__copy__", "__setstate__"):
            made = object.__new__(type(self)) if name == "__copy__" else self
            made.__dict__.update(vars(self) if name == "__copy__" else args[0])
            return made
        if name == "__new__":
            return object.__new__(self)
        return getattr(base, name)(self, *args, **kwargs)

    return {name: method, "__hash__": object.__hash__}


@pytest.mark.parametrize("hooked", [False, True])
@pytest.mark.parametrize("change", [*FIELD_CHANGES, *COPYING])
def test_fields_that_are_copied_and_bound_in_their_own_way(ma, log, change, hooked):
    members = FIELD_CHANGES.get(change) or taking_part(ma, log, change)
    own = type("Own", (ma.fields.String,), dict(members))
    inside = ma.fields.Dict(keys=own(), values=ma.fields.Tuple([own()]))

    def on_bind_field(self, name, field):
        log("bind", name)
        HOOKS["rename"](self, log, name, field)

    hook = {"on_bind_field": on_bind_field} if hooked else {}
    cls = schema(ma, own=own(), listed=ma.fields.List(own()), inside=inside, **hook)
    if change == "slots":
        cls._declared_fields["own"].more = "more"
    for number in range(EXAMINED + 2):
        made = log.attempt(cls)
        if isinstance(made, Exception):
            continue
        if number > EXAMINED:
            state(log, made)
        log.attempt(made.dump, {"own": 1, "listed": ["y"], "inside": {"k": ("v",)}})
        log.attempt(cls().load, {"own": "x", "OWN": "y", "ID": 1, "K": 2}, unknown="exclude")
        field = made.fields["own"]
        declared = cls._declared_fields["own"]
        log("field", field is declared, type(field).__name__, list(vars(field)))
        if change == "slots":
            log("more", field.more)


def test_fields_that_keep_a_class_among_their_attributes(ma, log):
    cls = schema(ma, on_bind_field=lambda self, name, field: None)
    cls()
    vars(cls._declared_fields["id"])["__class__"] = log
    for _ in range(3):
        log.attempt(lambda: list(vars(cls().declared_fields["id"])))


@pytest.mark.parametrize("hook", [{}, {"on_bind_field": lambda self, name, field: None}])
@pytest.mark.parametrize("name", ["copy", "deepcopy"])
def test_copy_is_patched(ma, log, name, hook):
    cls = schema(ma, **hook)
    original = getattr(copy, name)
    cls()
    log.patch(copy, name, lambda *args: (log(name, type(args[0]).__name__), original(*args))[1])
    for _ in range(3):
        cls()


METHODS = (
    "_init_fields", "_bind_field", "_normalize_nested_options", "set_class", "dict_class",
    "on_bind_field", "__init__",
)  # fmt: skip


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("where", ["class", "base", "mixin", "instance"])
@pytest.mark.parametrize("hooked", [False, True])
def test_methods_of_construction(ma, log, name, where, hooked):
    original = getattr(ma.Schema, name)
    is_class = name.endswith("class")

    def spied(*args, **options):
        log(name, len(args), sorted(options))
        return original(*args, **options)

    def init(self, **options):
        if where == "instance":
            vars(self)[name] = spied if is_class else lambda *args: spied(self, *args)
        ma.Schema.__init__(self, **options)

    given = staticmethod(spied) if is_class else spied
    mixin = type("Mixin", (), {name: given} if where == "mixin" else {})
    members = {"__init__": init} if where == "instance" else {}
    if hooked:
        members["on_bind_field"] = lambda self, name, field: log("bind", name)
    cls = type("Mixed", (mixin, schema(ma, **members)), {})
    cls()
    if where == "class":
        setattr(cls, name, given)
    elif where == "base":
        log.patch(ma.Schema, name, given)
    for options in ({}, {"only": ("id", "inner.x")}, {}):
        made = log.attempt(cls, **options)
        if not isinstance(made, Exception):
            log("fields", list(made.fields), log.attempt(made.dump, {"id": 1}))
            log.attempt(made.load, {"ID": 1})


def test_classes_from_dict(ma, log):
    for i in range(5):
        cls = ma.Schema.from_dict(fields_of(ma) | {"call": ma.fields.Function(lambda obj: 1)})
        made = cls(many=True)
        log("dumped", made.dump([{"id": 1, "name": str(i), "two": i}] * 20))
        log("loaded", made.load([{"ID": 1, "name": str(i), "two": i}] * 20))
        state(log, made)
