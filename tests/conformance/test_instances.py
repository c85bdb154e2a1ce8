"""Schema instances: what one looks like, and that none reaches another or its class."""

import asyncio
import copy
import gc
import inspect
import io
import pickle
import types
import weakref

import pytest

from tests.conformance.lacking import REMEMBERS, without
from tests.conformance.material import schema_of
from tests.interpreters import FREE_THREADED

DATA = {"a": "1", "b": 2, "n": {"x": "3", "y": 4}, "l": [{"x": 5}]}
LOADED = {"a": "1", "b": "2", "n": {"x": "3", "y": 4}, "l": [{"x": 5}]}


def classes(ma, log):
    class Inner(ma.Schema):
        x = ma.fields.Integer()
        y = ma.fields.Raw(load_only=True)

    class Mixin:
        m = ma.fields.Raw()

    class Base(ma.Schema, Mixin):
        a = ma.fields.Integer()
        b = ma.fields.String()

    class S(Base):
        n = ma.fields.Nested(Inner)
        l = ma.fields.List(ma.fields.Nested(Inner))  # noqa: E741

        class Meta:
            unknown = "exclude"
            exclude = ["m"]

    return S


OPTIONS = {
    "plain": {},
    "many": {"many": True},
    "only": {"only": ("a", "n.x")},
    "exclude": {"exclude": ("b", "l.x")},
    "load_only": {"load_only": ("a",)},
    "dump_only": {"dump_only": ["a", "n.x"]},
    "partial": {"partial": ("a", "n.x")},
    "unknown": {"unknown": "include"},
    "set": {"only": {"a"}},
    "generator": {"only": (name for name in ("a",))},
}


def show(log, schema):
    """Everything a user can see of an instance."""
    log("class", type(schema).__name__, repr(schema))
    log("vars", sorted(vars(schema)))
    log("dir", sorted(dir(schema)))
    for name in ("fields", "load_fields", "dump_fields", "declared_fields"):
        value = getattr(schema, name)
        log(name, type(value), list(value))
        for field in value.values():
            log("field", type(field).__name__, field.name, type(field.parent).__name__)
            log("bound", field.parent is schema, field.root is schema, sorted(vars(field)))
    for name in ("only", "exclude", "load_only", "dump_only", "many", "partial", "unknown"):
        log(name, getattr(schema, name))
    log("error_messages", schema.error_messages)
    log("same", schema.fields["a"] is schema.declared_fields["a"] if "a" in schema.fields else 0)
    log("own", schema.declared_fields["a"] is type(schema)._declared_fields["a"])


@pytest.mark.parametrize("moment", ["fresh", "dumped", "loaded", "both", "twice"])
@pytest.mark.parametrize("options", OPTIONS)
def test_what_an_instance_looks_like(ma, log, options, moment):
    given = dict(OPTIONS[options])
    if options == "generator":
        given = {"only": iter(["a"])}
    schema = log.attempt(classes(ma, log), **given)
    if isinstance(schema, Exception):
        return
    for _ in range(2 if moment == "twice" else 1):
        if moment in ("dumped", "both", "twice"):
            log.attempt(schema.dump, DATA, many=False)
        if moment in ("loaded", "both", "twice"):
            log.attempt(schema.load, LOADED, many=False)
    show(log, schema)


def _rename_on_binding(schema, name, field):
    field.data_key = "K" + name


LOOKS = {
    "nothing": lambda schema: None,
    "fields": lambda schema: schema.fields["a"],
    "declared": lambda schema: schema.declared_fields["a"],
    "dump_fields": lambda schema: schema.dump_fields.pop("b"),
    "load_fields": lambda schema: schema.load_fields.clear(),
    "nested": lambda schema: schema.fields["n"].schema,
    "vars": lambda schema: vars(schema).get("fields"),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "exclude": lambda schema: schema.exclude.add("x"),
    "required": lambda schema: setattr(schema.fields["a"], "required", True),
    "data_key": lambda schema: setattr(schema.fields["a"], "data_key", "A"),
    "declared-key": lambda schema: setattr(schema.declared_fields["a"], "data_key", "A"),
    "nested-key": lambda schema: setattr(
        schema.fields["n"].schema.fields["x"], "data_key", "X"
    ),
    "inner-key": lambda schema: setattr(
        schema.fields["l"].inner.schema.fields["x"], "data_key", "X"
    ),
    "error_messages": lambda schema: schema.error_messages.update(type="changed"),
    "field-messages": lambda schema: schema.fields["a"].error_messages.update(invalid="changed"),
    "validators": lambda schema: schema.fields["a"].validators.append(len),
    "metadata": lambda schema: schema.fields["a"].metadata,
    "attribute": lambda schema: setattr(schema, "extra", 1),
    "init": lambda schema: schema._init_fields(),
    "many": lambda schema: setattr(schema, "many", True),
    "set-fields": lambda schema: setattr(schema, "fields", {}),
    "delete": lambda schema: schema.dump_fields and delattr(schema, "dump_fields"),
    "fields-popped": lambda schema: schema.fields.pop("b"),
    "fields-added": lambda schema: schema.fields.update(new=copy.copy(schema.declared_fields["a"])),
    "fields-and-more": lambda schema: schema.fields["a"] is schema.dump_fields["a"],
    "context": lambda schema: getattr(schema, "context", None),
    "weakref": lambda schema: weakref.ref(schema)(),
    "class-field": lambda schema: setattr(
        type(schema)._declared_fields["a"], "data_key", "A"
    ),
    "class-fields": lambda schema: type(schema)._declared_fields.pop("b"),
    "class-added": lambda schema: type(schema)._declared_fields.update(
        new=copy.copy(schema.declared_fields["a"])
    ),
    "class-meta": lambda schema: setattr(type(schema).opts, "unknown", "include"),
    "class-meta-list": lambda schema: type(schema).opts.exclude.append("a"),
    "class-many": lambda schema: setattr(type(schema).opts, "many", True),
    "class-exclude": lambda schema: setattr(type(schema).opts, "exclude", ("a",)),
    "class-fields-option": lambda schema: setattr(type(schema).opts, "fields", ("b",)),
    "class-dump_only": lambda schema: setattr(type(schema).opts, "dump_only", ("b",)),
    "class-set_class": lambda schema: setattr(type(schema), "set_class", set),
    "class-messages": lambda schema: setattr(
        type(schema), "error_messages", {"type": "changed"}
    ),
    "class-on_bind": lambda schema: setattr(
        type(schema), "on_bind_field", _rename_on_binding
    ),
    "class-bind": lambda schema: setattr(
        type(schema), "_bind_field", lambda self, name, field: None
    ),
    "base-init": lambda schema: setattr(
        type(schema).__mro__[1], "_init_fields", lambda self: setattr(self, "dump_fields", {})
    ),
    "class-getattribute": lambda schema: setattr(
        type(schema), "get_attribute", lambda self, obj, attr, default: attr
    ),
}  # fmt: skip


@pytest.mark.parametrize("moment", ["before", "between", "after"])
@pytest.mark.parametrize("look", LOOKS)
def test_looking_and_changing(ma, log, look, moment):
    cls = classes(ma, log)
    first, second = cls(), cls(many=True)

    def use():
        for schema in (first, second, cls(), cls(only=("a", "n"))):
            log.attempt(schema.dump, DATA, many=False)
            log.attempt(schema.load, LOADED, many=False)
            log.attempt(schema.load, {"a": "bad", "z": 1}, many=False)

    if moment != "before":
        use()
    log.attempt(lambda: LOOKS[look](first) and None)
    use()
    if moment == "after":
        log.attempt(lambda: LOOKS[look](second) and None)
        use()
        show(log, second)
    log("vars", sorted(vars(first)))


HOOK_LOOKS = {
    "once": lambda schema: [name for name, field in schema.fields.items() if field.required],
    "for-each": lambda schema: [schema.fields[name].name for name in ("a", "b", "n")],
    "with-the-rest": lambda schema: (list(schema.fields), sorted(schema.dump_fields), schema.only),
    "renames": lambda schema: setattr(schema.fields["a"], "data_key", "A"),
    "pops": lambda schema: schema.fields.pop("b", None) and None,
    "nested": lambda schema: list(schema.fields["n"].schema.fields),
    "parents": lambda schema: [field.parent is schema for field in schema.fields.values()],
}


@pytest.mark.parametrize("tag", ["pre_dump", "post_dump", "pre_load", "post_load"])
@pytest.mark.parametrize("look", HOOK_LOOKS)
def test_a_hook_that_reads_the_fields(ma, log, look, tag):
    class S(classes(ma, log)):
        @getattr(ma, tag)
        def hook(self, data, **options):
            log("looks", log.attempt(HOOK_LOOKS[look], self))
            return data

    for _ in range(14):
        schema = S()
        for _ in range(2):
            log.attempt(schema.dump, DATA)
            log.attempt(schema.load, LOADED)
        log.attempt(schema.dump, [DATA, DATA], many=True)
    log("vars", sorted(vars(schema)), list(schema.fields), list(schema.dump_fields))
    log("declared", [field.data_key for field in schema.declared_fields.values()])


@pytest.mark.parametrize("rounds", [1, 2, 5])
def test_an_instance_per_call(ma, log, rounds):
    cls = classes(ma, log)
    for number in range(rounds):
        log.attempt(cls().dump, DATA)
        log.attempt(cls(many=True).dump, [DATA, {}])
        log.attempt(cls(only=("a",)).dump, DATA)
        log.attempt(cls(exclude=("n.x",)).dump, DATA)
        log.attempt(cls(unknown="raise").load, {"zz": 1, "n": {"zz": number}})
        log.attempt(cls(partial=True).load, LOADED)
        log.attempt(cls(only=("nope",)).dump if number < 0 else cls, only=("nope",))


@pytest.mark.parametrize(
    "name",
    ["on_bind_field", "_bind_field", "_init_fields", "_normalize_nested_options", "__init__"],
)
@pytest.mark.parametrize("place", ["class", "base", "mixin", "library", "later"])
def test_methods_that_build_an_instance(ma, log, place, name):
    original = getattr(ma.Schema, name)

    def method(self, *args, **kwargs):
        log(name, type(self).__name__, args[:1], sorted(kwargs))
        result = original(self, *args, **kwargs)
        if name == "on_bind_field":
            args[1].data_key = f"key of {args[0]}"
        return result

    members = {name: method}
    mixin = type("Mixin", (), members if place == "mixin" else {})

    class Inner(ma.Schema):
        x = ma.fields.Integer()

    base = type("Base", (ma.Schema,), members if place == "base" else {})
    cls = type(
        "S",
        (mixin, base),
        {
            "a": ma.fields.Integer(),
            "n": ma.fields.Nested(Inner),
            **(members if place == "class" else {}),
        },
    )
    if place == "later":
        log.attempt(cls().dump, {"a": 1, "n": {"x": 2}})
        setattr(cls, name, method)
    if place == "library":
        log.patch(ma.Schema, name, method)
    for _ in range(3):
        schema = log.attempt(cls)
        log.attempt(schema.dump, {"a": 1, "n": {"x": 2}})
        log.attempt(cls(only=("a",)).load, {"a": 1, "key of a": 2})


FIELD_METHODS = ["_bind_to_schema", "__copy__", "__deepcopy__", "__init__", "__getstate__"]


@pytest.mark.parametrize("name", FIELD_METHODS)
@pytest.mark.parametrize("place", ["class", "made by type()", "library"])
def test_fields_that_watch_how_they_are_bound(ma, log, place, name):
    if place == "library" and name not in vars(ma.fields.Field):
        return

    class Own(ma.fields.Integer):
        pass

    if place == "made by type()":
        # Its module is said to be ``abc``, where the metaclass of number fields makes it.
        Own = type("Own", (ma.fields.Integer,), {})
    original = getattr(Own, name, None)

    def method(self, *args, **kwargs):
        log(name, type(self).__name__, [type(arg).__name__ for arg in args], sorted(kwargs))
        if name == "__copy__":
            twin = object.__new__(type(self))
            vars(twin).update(vars(self), copied=True)
            return twin
        return original(self, *args, **kwargs) if original else vars(self)

    class S(ma.Schema):
        a = Own()
        l = ma.fields.List(Own())  # noqa: E741
        t = ma.fields.Tuple([Own(), ma.fields.Raw()])
        d = ma.fields.Dict(keys=Own(), values=Own())

    if place == "library":
        log.patch(ma.fields.Field, name, method)
    else:
        setattr(Own, name, method)
    for _ in range(3):
        schema = S()
        log.attempt(schema.dump, {"a": 1, "l": [2], "t": (3, 4), "d": {5: 6}})
        log("copied", getattr(schema.fields["a"], "copied", None))


def test_a_field_that_looks_at_its_parent(ma, log):
    class Curious(ma.fields.Field):
        def _serialize(self, value, attr, obj, **kwargs):
            log("looks", self.name, type(self.parent).__name__, type(self.root).__name__)
            log("siblings", list(self.root.fields), self.root.many, self.root.only)
            return self.parent is self.root

        def _deserialize(self, value, attr, data, **kwargs):
            return self._serialize(value, attr, data)

    class Inner(ma.Schema):
        c = Curious()

    class S(ma.Schema):
        c = Curious()
        l = ma.fields.List(Curious())  # noqa: E741
        n = ma.fields.Nested(Inner)
        m = ma.fields.Nested(Inner(only=("c",)), many=True)

    data = {"c": 1, "l": [1], "n": {"c": 1}, "m": [{"c": 2}]}
    for schema in (S(), S(many=True), S(only=("c", "n.c"))):
        for _ in range(2):
            log.attempt(schema.dump, data, many=False)
            log.attempt(schema.load, data, many=False)


def test_declared_fields_are_not_touched(ma, log):
    cls = classes(ma, log)
    before = {name: (id(field), dict(vars(field))) for name, field in cls._declared_fields.items()}
    for options in ({}, {"only": ("n.x",)}, {"exclude": ("l.x",)}, {"load_only": ("a",)}):
        schema = cls(**options)
        log.attempt(schema.dump, DATA)
        log.attempt(schema.load, LOADED)
    after = {name: (id(field), dict(vars(field))) for name, field in cls._declared_fields.items()}
    log("untouched", before == after)
    for field in cls._declared_fields.values():
        log("unbound", field.parent, field.name, field.root)


def test_the_same_field_object_under_two_names(ma, log):
    shared = ma.fields.Integer()
    cls = ma.Schema.from_dict({"a": shared, "b": shared})
    schema = cls()
    log("same", schema.fields["a"] is schema.fields["b"], schema.fields["b"].name)
    log.attempt(schema.dump, {"a": 1, "b": 2})
    schema.fields["a"].data_key = "x"
    log.attempt(schema.dump, {"a": 1, "b": 2})


def test_inheritance_and_meta(ma, log):
    class Base(ma.Schema):
        class Meta:
            ordered = True
            dateformat = "%d"
            datetimeformat = "%Y"
            timeformat = "%H"
            dump_only = ("b",)
            load_only = ["a"]
            include = {"from": ma.fields.Raw()}

        a = ma.fields.DateTime()
        b = ma.fields.Date()
        c = ma.fields.Time()

    class Child(Base):
        b = None
        c = ma.fields.Raw()

        class Meta(Base.Meta):
            fields = ("c", "a", "from")
            exclude = ("from",)

    class Sibling(Base):
        class Meta:
            many = True
            index_errors = False
            render_module = None

    for cls in (Base, Child, Sibling):
        log("declared", cls.__name__, list(cls._declared_fields))
        schema = log.attempt(cls)
        if isinstance(schema, Exception):
            continue
        log("fields", list(schema.fields), list(schema.load_fields), list(schema.dump_fields))
        log("formats", [getattr(field, "format", None) for field in schema.fields.values()])
        log("many", schema.many, vars(schema.opts))


def test_the_metaclass(ma, log):
    class Meta(ma.schema.SchemaMeta):
        @classmethod
        def get_declared_fields(mcs, klass, *args, **kwargs):
            fields = super().get_declared_fields(klass, *args, **kwargs)
            log("declared", klass.__name__, list(fields), sorted(kwargs))
            fields["added"] = ma.fields.Constant(1)
            return fields

        def resolve_hooks(cls):
            log("hooks", cls.__name__)
            return super().resolve_hooks()

    class Opts(ma.SchemaOpts):
        def __init__(self, meta, **kwargs):
            super().__init__(meta, **kwargs)
            self.colour = getattr(meta, "colour", "red")

    class S(ma.Schema, metaclass=Meta):
        OPTIONS_CLASS = Opts
        f = ma.fields.Raw()

        class Meta:
            colour = "blue"

    class T(S):
        g = ma.fields.Raw()

    log("opts", S.opts.colour, T.opts.colour)
    log.attempt(T().dump, {"f": 1, "g": 2})


def test_the_class_registry(ma, log):
    registry = ma.class_registry

    def make(module, register=True):
        meta = type("Meta", (), {"register": register})
        return type(
            "Same", (ma.Schema,), {"__module__": module, "Meta": meta, "f": ma.fields.Raw()}
        )

    make("one")
    log.attempt(registry.get_class, "Same")
    make("two")
    log.attempt(registry.get_class, "Same")
    log.attempt(lambda: len(registry.get_class("Same", all=True)))
    log.attempt(registry.get_class, "one.Same")
    log.attempt(registry.get_class, "three.Same")
    make("three", register=False)
    log.attempt(registry.get_class, "three.Same")
    log("names", sorted(registry._registry))
    for name in ("Same", "one.Same", "four.Same"):
        schema = schema_of(ma, {"n": ma.fields.Nested(name)})
        log.attempt(schema.dump, {"n": {"f": 1}})
        log.attempt(schema.dump, {})
        log.attempt(schema.dump, {"n": None})


def test_from_dict(ma, log):
    class Base(ma.Schema):
        a = ma.fields.Raw()

        class Meta:
            unknown = "exclude"

        @ma.post_dump
        def after(self, data, **kwargs):
            return {**data, "after": 1}

    fields = {"b": ma.fields.Integer()}
    cls = Base.from_dict(fields, name="Made")
    log("class", cls.__name__, cls.__mro__, list(cls._declared_fields), cls.opts.register)
    log("fields", fields)
    log.attempt(cls().dump, {"a": 1, "b": "2"})
    log.attempt(cls().load, {"a": 1, "b": "2", "c": 3})
    log.attempt(ma.Schema.from_dict, {"f": "text"})
    log.attempt(ma.Schema.from_dict, [("f", ma.fields.Int())])
    log.attempt(ma.Schema.from_dict, {"f": ma.fields.Raw})
    log.attempt(ma.Schema.from_dict({}).__call__)


def documentation(value):
    """A docstring as ``inspect`` shows it: a compiled one keeps its indentation on each Python."""
    return inspect.cleandoc(value.__doc__ or "")


def test_public_faces(ma, log):
    """Signatures, documentation and annotations of everything public."""
    for module in (ma, ma.fields, ma.schema, ma.validate, ma.utils, ma.decorators, ma.exceptions):
        names = sorted(
            name
            for name, value in inspect.getmembers(module)
            # docs/differences.md: this import leaves no name in a compiled module.
            if name[0] != "_"
            and name != "annotations"
            # A submodule is an attribute from its first import on, which another test may do.
            and not inspect.ismodule(value)
        )
        log("names", module.__name__, names)
        for name, value in sorted(vars(module).items()):
            if name.startswith("_") or not getattr(value, "__module__", "").startswith(ma.__name__):
                continue
            log("thing", name, documentation(value) if callable(value) else None)
            if callable(value) and not isinstance(value, type):
                log("signature", name, str(inspect.signature(value)))
                log("annotations", sorted(getattr(value, "__annotations__", {})))
            if isinstance(value, type):
                log("bases", [base.__name__ for base in value.__mro__])
                for member, function in sorted(vars(value).items()):
                    if callable(function) and not isinstance(function, type):
                        function = getattr(function, "__func__", function)
                        log("method", name, member, documentation(function), function.__qualname__)
                        log("signature", str(inspect.signature(function)))
                        log("defaults", function.__defaults__, function.__kwdefaults__)


def test_subclasses_with_init(ma, log):
    class S(ma.Schema):
        a = ma.fields.Integer()
        b = ma.fields.Integer()

        def __init__(self, *args, hidden="", **kwargs):
            super().__init__(*args, **kwargs)
            if hidden:
                self.dump_fields.pop(hidden)
                self.load_fields[hidden].load_default = 7

    for _ in range(3):
        for options in ({}, {"hidden": "a"}, {"hidden": "b"}, {"only": ("a",)}):
            log.attempt(S(**options).dump, {"a": 1, "b": 2})
            log.attempt(S(**options).load, {})


@without(REMEMBERS)
def test_attributes_of_an_instance(ma, log):
    class S(ma.Schema):
        f = ma.fields.Raw()
        extra = "class"

        def __getattr__(self, name):
            if name.startswith("virtual"):
                return name
            raise AttributeError(name)

        def __setattr__(self, name, value):
            if name in ("f", "extra"):
                log("set", name, value)
            super().__setattr__(name, value)

        def __eq__(self, other):
            return isinstance(other, S)

        __hash__ = None

    schema = S()
    schema.f = 1
    schema.extra = "instance"
    log("values", schema.f, schema.extra, schema.virtual, S() == S())
    log.attempt(lambda: schema.nothing)
    for _ in range(3):
        log.attempt(schema.dump, {"f": 2})
    del schema.extra
    log("class", schema.extra)
    log("vars", sorted(vars(schema)))


@without(REMEMBERS)
def test_instances_are_freed(ma, log):
    cls = classes(ma, log)
    for use in ("nothing", "dump", "load", "fields"):
        schema = cls()
        if use == "fields":
            schema.fields["n"].schema.dump({})
        elif use != "nothing":
            getattr(schema, use)({})
        reference = weakref.ref(schema)
        del schema
        gc.collect()
        log("freed", use, reference() is None)
    reference = weakref.ref(ma.Schema.from_dict({"f": ma.fields.Raw()}))
    gc.collect()
    log("class freed", reference() is None)


@pytest.mark.parametrize("used", [True, False])
@pytest.mark.parametrize("how", ["copy", "deepcopy"])
def test_copies(ma, log, how, used):
    cls = classes(ma, log)
    schema = cls(only=("a", "n.x"))
    if used:
        log.attempt(schema.dump, DATA)
        log.attempt(schema.load, LOADED)
    twin = getattr(copy, how)(schema)
    log("shared", twin.fields is schema.fields, twin.fields["a"] is schema.fields["a"])
    # Without the GIL every schema is allocated with room for its plans.
    plain = FREE_THREADED or type(vars(twin)) is dict
    log("vars", sorted(vars(twin)) == sorted(vars(schema)), plain)
    twin.fields["a"].data_key = "A"
    twin.many = True
    for each in (twin, schema, twin):
        log.attempt(each.dump, DATA, many=False)
        log.attempt(each.load, LOADED, many=False)


def test_what_was_set_before_the_construction(ma, log):
    class S(ma.Schema):
        m = ma.fields.Method("show", deserialize="read")

        def __init__(self, own="", **kwargs):
            self.mark = own
            if own:
                self.show = lambda obj: own
                self.read = lambda value: own
            super().__init__(**kwargs)

        def show(self, obj):
            return "class"

        def read(self, value):
            return "class"

    for own in ("", "one", "", "two"):
        schema = S(own)
        log("used", schema.dump({}), schema.load({"m": 1}))
        log("vars", sorted(vars(schema)))
        schema = S(own)
        del schema.mark, schema.many
        log("vars", sorted(vars(schema)))


@pytest.mark.parametrize("how", ["class", "instance"])
def test_a_dictionary_that_somebody_else_holds(ma, log, how):
    shared = {}

    class S(ma.Schema):
        a = ma.fields.Integer()
        b = ma.fields.Integer()

        def __init__(self, **kwargs):
            held = self.__dict__ = shared if how == "class" else {}
            super().__init__(**kwargs)
            held["mark"] = "seen"

    first = S()
    second = S(only=("a",))
    log("fields", list(first.fields), list(second.fields))
    log("mark", first.mark, second.mark, list(shared))
    log("dumped", first.dump({"a": 1, "b": 2}), second.dump({"a": 1, "b": 2}))


def test_constructing_an_instance_again(ma, log):
    cls = classes(ma, log)
    for touched in (False, True):
        schema = cls(only=("a",))
        if touched:
            schema.mark = 1
        log.attempt(schema.__init__, only=("nope",))
        log("fields", list(schema.fields), sorted(vars(schema)))
        schema = cls(only=("a",))
        schema.__init__(only=("b",))
        log("fields", list(schema.fields), sorted(vars(schema)))
        log.attempt(schema.dump, DATA)


def test_a_class_changed_before_its_instance_is_looked_at(ma, log):
    cls = classes(ma, log)
    cls()
    schema = cls()
    cls.on_bind_field = lambda self, name, field: log("bound", name)
    schema.dump(DATA)
    log("fields", list(schema.fields))
    cls().dump(DATA)
    del cls.on_bind_field
    schema = cls(only=("a",))
    cls.dict_class = property(lambda self: log("asked"))
    cls.only = cls.fields = "class"
    log("values", schema.only, list(schema.fields))


def test_past_the_class(ma, log):
    cls = classes(ma, log)
    cls().dump(DATA)
    for used in (False, True):
        schema = cls()
        if used:
            schema.dump(DATA)
        log("static", list(inspect.getattr_static(schema, "fields")))
        log("own", sorted(object.__getattribute__(cls(), "__dict__")))


@without(REMEMBERS)
def test_the_end_of_an_instance(ma, log):
    class S(ma.Schema):
        a = ma.fields.Integer()

        def __del__(self):
            log("end")

    # A run of the GC in between would end upstream's instances, which are in cycles.
    gc.disable()
    try:
        for _ in range(3):
            S().dump({"a": 1})
        schema = S()
        log("fields", list(schema.fields))
    finally:
        gc.enable()
    del schema, S
    gc.collect()


def test_the_table_of_hooks(ma, log):
    class S(ma.Schema):
        @ma.post_dump
        def after(self, data, **kwargs):
            return data

    S().dump({})
    log("shown", repr(S._hooks), type(copy.deepcopy(S._hooks)).__name__)
    restored = pickle.loads(pickle.dumps(S._hooks))
    log("restored", type(restored).__name__, restored, restored["none"])


def test_a_nested_schema_that_changes_its_options(ma, log):
    class Inner(ma.Schema):
        x = ma.fields.Integer()
        y = ma.fields.Integer()

        def __init__(self, only=None, exclude=(), **kwargs):
            log("given", list(only or ()), list(exclude))
            for options in (only, exclude):
                if isinstance(options, ma.schema.OrderedSet):
                    options.pop()
            super().__init__(only=only, exclude=exclude, **kwargs)

    class S(ma.Schema):
        n = ma.fields.Nested(Inner)
        l = ma.fields.List(ma.fields.Nested(Inner))  # noqa: E741

    data = {"n": {"x": 1, "y": 2}, "l": [{"x": 3, "y": 4}]}
    for options in ({"only": ("n.x", "n.y", "l")}, {"exclude": ("n.x", "l.y")}):
        for _ in range(3):
            schema = S(**options)
            log("dumped", schema.dump(data))
        log("options", list(schema.fields["n"].only or ()), list(schema.fields["n"].exclude))


def test_options_that_copy_in_their_own_way(ma, log):
    class Options(ma.SchemaOpts):
        def __copy__(self):
            log("copied")
            return self

    class S(ma.Schema):
        OPTIONS_CLASS = Options
        a = ma.fields.Integer()

    for _ in range(3):
        log("dumped", S().dump({"a": 1}))
    log("options", S().opts is S.opts)


def unusual_dictionaries(ma, log):
    """Schema classes whose instances have a dictionary that cannot be replaced, or not unseen."""

    class Namespace(ma.Schema, types.SimpleNamespace):
        a = ma.fields.Integer()

    class Module(ma.Schema, types.ModuleType):
        a = ma.fields.Integer()

        def __init__(self, **options):
            types.ModuleType.__init__(self, "name")
            ma.Schema.__init__(self, **options)

    class Buffer(ma.Schema, io.StringIO):
        a = ma.fields.Integer()

    class Future(asyncio.Future, ma.Schema):
        a = ma.fields.Integer()

        def __init__(self, **options):
            ma.Schema.__init__(self, **options)

    class Failure(ma.Schema, Exception):
        a = ma.fields.Integer()

    class ReadOnly(ma.Schema):
        a = ma.fields.Integer()

        @property
        def __dict__(self):
            return {"a": 1}

    class Watched(ma.Schema):
        a = ma.fields.Integer()

        @property
        def __dict__(self):
            return {}

        @__dict__.setter
        def __dict__(self, value):
            log("set")

    return {cls.__name__: cls for cls in locals().values() if inspect.isclass(cls)}


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize(
    "name", ["Namespace", "Module", "Buffer", "Future", "Failure", "ReadOnly", "Watched"]
)
def test_a_dictionary_that_cannot_be_replaced(ma, log, name, nested):
    cls = unusual_dictionaries(ma, log)[name]
    data = {"a": "1"}
    if nested:
        cls = ma.Schema.from_dict({"inner": ma.fields.Nested(cls)})
        data = {"inner": data}
    shared = cls()
    for _ in range(4):
        for schema in (shared, cls()):
            log.attempt(schema.dump, data)
            log.attempt(schema.load, data)
            log.attempt(schema.dump, [data, data], many=True)
            log.attempt(schema.loads, "[]", many=True)


@pytest.mark.parametrize("method", ["dump", "load", "dumps", "validate", "loads"])
def test_a_method_called_on_something_else(ma, log, method):
    class S(ma.Schema):
        a = ma.fields.Integer()

    for given in (S, types.SimpleNamespace(many=False), io.StringIO(), types, None, 3):
        for _ in range(3):
            log.attempt(getattr(ma.Schema, method), given, "{}" if method == "loads" else {"a": 1})


def new_as_it_is(log, cls, args, options):
    return object.__new__(cls)


def new_with_attributes(log, cls, args, options):
    schema = object.__new__(cls)
    schema.request = {"of": "a test"}
    schema.only = "is replaced"
    return schema


def new_with_a_method_of_its_own(log, cls, args, options):
    schema = object.__new__(cls)
    schema.shown = lambda obj: "the instance's"
    return schema


def the_only_instance(log, cls, args, options):
    if "instance" not in vars(cls):
        cls.instance = object.__new__(cls)
    return cls.instance


def a_list_where_many_is_wanted(log, cls, args, options):
    # It does what django-rest-marshmallow does.
    if options.get("many"):
        return [cls(**{**options, "many": False})]
    return object.__new__(cls)


def an_instance_that_was_constructed(log, cls, args, options):
    schema = object.__new__(cls)
    cls.__init__(schema, exclude=("a",))
    log("constructed", list(schema.fields))
    return schema


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize(
    "new",
    [
        new_as_it_is,
        new_with_attributes,
        new_with_a_method_of_its_own,
        the_only_instance,
        a_list_where_many_is_wanted,
        an_instance_that_was_constructed,
    ],
)
def test_a_class_that_makes_its_instances_itself(ma, log, new, options):
    class S(classes(ma, log)):
        m = ma.fields.Method("shown")

        class Meta:
            unknown = "exclude"

        def __new__(cls, *args, **options):
            return new(log, cls, args, options)

        def shown(self, obj):
            return "the class's"

    for _ in range(30):
        made = S(**OPTIONS[options]) if options != "generator" else S(only=iter(("a", "m")))
        schema = made[0] if isinstance(made, list) else made
        log("dump", log.attempt(schema.dump, DATA), type(made).__name__)
        log("load", log.attempt(schema.load, LOADED))
    show(log, schema)
    log("copied", log.attempt(copy.copy(schema).dump, DATA))
    log("deepcopied", log.attempt(copy.deepcopy(schema).load, LOADED))
