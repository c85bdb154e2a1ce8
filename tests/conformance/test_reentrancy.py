"""User code that changes, resolves or looks into the schema whose call is running."""

import datetime as dt
import weakref
from collections import UserDict

import pytest

from tests.conformance.material import written

pytestmark = pytest.mark.usefixtures("hooked_at_once")


def seeing(ma, see):
    """A field class of the user's own whose methods call ``see(method, field)``."""

    class Own(ma.fields.String):
        def _serialize(self, value, *args, **kwargs):
            see("serialize", self)
            return value

        def _deserialize(self, value, *args, **kwargs):
            see("deserialize", self)
            return value

    return Own


def bind_nothing(self, field_name, field_obj):
    """An ``on_bind_field``: instances of its class cannot be lazy."""


CHANGES = written(
    {}, "self",
    replaced="self.__dict__ = dict(self.__dict__)",
    replaced_unseen="self.__dict__ = {**object.__getattribute__(self, '__dict__'), 'more': 1}",
    made_anew="self.__init__()",
    made_anew_in_another="self.__dict__ = {}; self.__init__()",
)  # fmt: skip


@pytest.mark.parametrize("binding", [None, bind_nothing])
@pytest.mark.parametrize("change", CHANGES)
def test_instance_dictionaries(ma, log, change, binding):
    made = []
    Inner = ma.Schema.from_dict({"x": ma.fields.String()})

    def see(method, field):
        log(method, field.root is made[-1], field.parent is made[-1])

    own = seeing(ma, see)

    class Outer(ma.Schema):
        first = ma.fields.Method("change", deserialize="change")
        inner = ma.fields.Nested(Inner)
        listed = ma.fields.List(ma.fields.Nested(lambda: Inner()))
        pair = ma.fields.Tuple((own(), ma.fields.Nested(Inner)))
        last = own()

        def change(self, obj):
            CHANGES[change](self)
            return 1

    if binding is not None:
        Outer.on_bind_field = binding
    value = {
        "first": 1, "inner": {"x": "a"}, "listed": [{"x": "b"}], "pair": ["p", {"x": "c"}],
        "last": "o",
    }  # fmt: skip
    for _ in range(5):
        for direction in ("dump", "load"):
            made.append(Outer())
            log.attempt(getattr(made[-1], direction), value)
    one, two = Outer(), Outer()
    log("shared", one.fields["inner"].schema is two.fields["inner"].schema)


def test_whoever_saw_a_nested_schema_being_made_does_not_meet_it_again(ma, log):
    made = weakref.WeakSet()
    numbers = set()

    class Known(ma.Schema):
        x = ma.fields.Method("here")

        def here(self, obj):
            return self in made, id(self) in numbers

    class ByInit(Known):
        def __init__(self, **options):
            super().__init__(**options)
            made.add(self)

    class ByNew(Known):
        def __new__(cls, **options):
            self = super().__new__(cls)
            numbers.add(id(self))
            kept.append(self)
            return self

    def noted():
        schema = Known()
        made.add(schema)
        return schema

    kept = []
    for nested in (lambda: ByInit(), lambda: ByNew(), noted):
        outer = ma.Schema.from_dict({"inner": ma.fields.Nested(nested)})
        for _ in range(5):
            log.attempt(outer().dump, {"inner": {}})
    kept.clear()


CHANGES_OF_AN_INSTANCE = written(
    {}, "ma, log, made, cls, field",
    only_of_the_field='field.only = ("x",)',
    many_of_the_field="field.many = True",
    only='made.only = {"x"}',
    exclude='made.exclude = {"secret"}',
    load_only='made.load_only = {"secret"}',
    dump_only='made.dump_only = {"secret"}',
    declared_fields='made.declared_fields = {"x": ma.fields.String()}',
    fields="made.fields = {}",
    dump_fields="made.dump_fields = {}",
    many="made.many = True",
    own="made.own = 1",
    init_fields='made._init_fields = lambda: log("init fields")',
    on_bind_field='made.on_bind_field = lambda name, field: log("bind", name)',
    class_on_bind_field='cls.on_bind_field = lambda self, name, field: log("bind", name)',
    class_copy='cls.__copy__ = lambda self: (log("copy"), self)[1]',
    class_options='cls.opts.fields = ("x",)',
)  # fmt: skip


@pytest.mark.parametrize("returned", ["instance", "class", "fields"])
@pytest.mark.parametrize("change", CHANGES_OF_AN_INSTANCE)
def test_a_nested_instance_that_was_changed_since_it_was_made(ma, log, change, returned):
    fields = {"x": ma.fields.String(), "secret": ma.fields.String()}
    Inner = ma.Schema.from_dict(fields)

    def make():
        made = Inner()
        if calls[0] > 2:
            CHANGES_OF_AN_INSTANCE[change](ma, log, made, Inner, schema.fields["inner"])
        calls[0] += 1
        return {"instance": made, "class": Inner, "fields": fields}[returned]

    Outer = ma.Schema.from_dict({"inner": ma.fields.Nested(make)})
    calls = [0]
    row = {"x": "1", "secret": "2"}
    for _ in range(7):
        schema = Outer()
        log.attempt(schema.dump, {"inner": row})
        log.attempt(schema.dump, {"inner": [row]})
        schema = Outer()
        log.attempt(schema.load, {"inner": row})


@pytest.mark.parametrize("nested", ["callable", "class", "name", "fields"])
def test_options_that_the_outer_schema_is_given_in_the_call(ma, log, nested):
    class NarrowedInner(ma.Schema):
        x = ma.fields.String()
        y = ma.fields.String()

    def make():
        schema.load_only = schema.dump_only = {"inner.y"}
        return NarrowedInner

    given = {
        "callable": make, "class": NarrowedInner, "name": "NarrowedInner",
        "fields": {"x": ma.fields.String(), "y": ma.fields.String()},
    }  # fmt: skip

    class Outer(ma.Schema):
        first = ma.fields.Method("set_options", deserialize="set_options")
        inner = ma.fields.Nested(given[nested])

        def set_options(self, obj):
            if nested != "callable":
                self.load_only = self.dump_only = {"inner.y"}
            return 1

    value = {"first": 1, "inner": {"x": "a", "y": "b"}}
    for _ in range(5):
        for direction in ("dump", "load"):
            schema = Outer()
            for _ in range(2):
                log.attempt(getattr(schema, direction), value)


@pytest.mark.parametrize("direction", ["dump", "load"])
@pytest.mark.parametrize(
    "returned", ["instance", "kept", "class", "none", "name", "number", "raises"]
)
def test_a_callable_that_resolves_its_own_field(ma, log, returned, direction):
    One = ma.Schema.from_dict({"x": ma.fields.String()})

    class Two(ma.Schema):
        y = ma.fields.String()

        def on_bind_field(self, field_name, field_obj):
            if schema is not None and within[0] < 5:
                within[0] += 1
                log("bind", field_name, schema.fields["inner"].schema is self)

    schema = None
    within = [0]
    kept = Two()

    def call():
        function = schema.dump if direction == "dump" else schema.load
        log.attempt(function, {"inner": {"x": 1, "y": 2}})

    def make():
        within[0] += 1
        log("make")
        if within[0] == 1:
            call()
            if returned == "raises":
                raise RuntimeError("no")
            return {
                "instance": Two(), "kept": kept, "class": Two, "none": None, "name": "Nope",
                "number": 3,
            }[returned]  # fmt: skip
        return One

    Outer = ma.Schema.from_dict({"inner": ma.fields.Nested(make)})
    for _ in range(5):
        schema = Outer()
        within[0] = 0
        for _ in range(2):
            call()
        schema = None


def test_a_class_of_the_metaclass_that_is_no_schema(ma, log):
    class Odd(metaclass=type(ma.Schema)):
        OPTIONS_CLASS = ma.SchemaOpts

        class Meta:
            pass

    outer = ma.Schema.from_dict({"inner": ma.fields.Nested(Odd)})
    for _ in range(4):
        log.attempt(outer().dump, {"inner": {}})


@pytest.mark.parametrize("direction", ["dump", "load"])
def test_an_instance_nested_twice_binds_the_fields_of_both(ma, log, direction):
    class Inner(ma.Schema):
        x = ma.fields.String()
        names = ma.fields.Method("listed", deserialize="listed")

        def listed(self, obj):
            return ",".join(self.fields)

    inner = Inner()

    class Outer(ma.Schema):
        a = ma.fields.Nested(inner, only=("x", "names"))
        b = ma.fields.Nested(lambda: inner, only=("names",))

    value = {"a": {"x": "1", "names": 1}, "b": {"names": 1}}
    for count in (3, 3, 40, 3):
        log.attempt(getattr(Outer(), direction), [value] * count, many=True)


def test_a_field_inside_another_that_is_not_bound_is_shared(ma, log):
    class Wrapped(ma.fields.Field):
        def __init__(self, inner, **options):
            super().__init__(**options)
            self.inner = inner

        def _deserialize(self, value, *args, **kwargs):
            return self.inner.deserialize(value)

    Outer = ma.Schema.from_dict({"w": Wrapped(ma.fields.String())})
    for _ in range(6):
        log.attempt(Outer().load, {"w": "x"})
    one, two = Outer(), Outer()
    log("shared", one.fields["w"].inner is Outer._declared_fields["w"].inner)
    one.fields["w"].inner.allow_none = True
    log.attempt(two.load, {"w": None})


def test_options_that_are_computed_under_a_name_of_the_fields_own(ma, log):
    wanted = [""]

    class Opts(ma.SchemaOpts):
        @property
        def localformat(self):
            return wanted[0]

    class Local(ma.fields.DateTime):
        SCHEMA_OPTS_VAR_NAME = "localformat"

    class Event(ma.Schema):
        OPTIONS_CLASS = Opts
        at = Local()
        listed = ma.fields.List(Local())

    at = dt.datetime(2026, 11, 23, tzinfo=dt.UTC)
    for wanted[0] in ("%d.%m.%Y", "%m/%d/%Y") * 4:
        log.attempt(Event().dump, {"at": at, "listed": [at]})


def own_nested(ma):
    """A nested field with methods of its own, and one that fails once its schema is bound."""

    class Own(ma.fields.Nested):
        def _serialize(self, *args, **options):
            return super()._serialize(*args, **options)

        def _deserialize(self, *args, **options):
            return super()._deserialize(*args, **options)

    class Failing(ma.fields.Nested):
        @property
        def schema(self):
            copied = super().schema
            raise ma.ValidationError(f"{len(copied.fields)} fields are bound")

    return Own, Failing


def looking(ma, inner):
    """A schema whose hook asks a nested field for its schema."""

    class Looking(ma.Schema):
        deep = ma.fields.Nested(inner, many=True)

        @ma.post_dump
        @ma.post_load
        def look(self, data, **options):
            self.fields["deep"].schema  # noqa: B018
            return data

    return Looking


OTHERS = {
    "tuple given a list": (
        lambda ma, inner: ma.fields.Tuple((ma.fields.Nested(inner, many=True),)), [[{}]],
    ),
    "dict given another mapping": (
        lambda ma, inner: ma.fields.Dict(values=ma.fields.Nested(inner, many=True)),
        UserDict(k=[{}]),
    ),
    "own methods": (lambda ma, inner: own_nested(ma)[0](inner, many=True), [{}]),
    "a hook that looks": (lambda ma, inner: ma.fields.Nested(looking(ma, inner)), {}),
    "binding that fails": (lambda ma, inner: own_nested(ma)[1](inner, many=True), [{}]),
}  # fmt: skip


@pytest.mark.parametrize("direction", ["dump", "load"])
@pytest.mark.parametrize("other", OTHERS)
def test_an_instance_is_bound_anew_by_upstreams_own_code(ma, log, other, direction):
    class Inner(ma.Schema):
        a = ma.fields.Method("told", deserialize="told")

        def told(self, value):
            return self.many

        def on_bind_field(self, name, field):
            field.data_key = "many" if self.many else "one"

    inner = Inner()
    make, value = OTHERS[other]
    fields = {"first": ma.fields.Nested(inner), "other": make(ma, inner)}
    outer = ma.Schema.from_dict(fields)()
    options = {"unknown": "include"} if direction == "load" else {}
    one = {"first": {"a": 1, "one": 2}}
    for _ in range(5):
        log.attempt(getattr(outer, direction), one, **options)
    for _ in range(2):
        log.attempt(getattr(outer, direction), [one, {"other": value}, one], many=True, **options)


def test_fields_are_bound_again_by_hand(ma, log):
    class Inner(ma.Schema):
        a = ma.fields.Method("told")

        def told(self, value):
            return sorted(self.fields), self.many

    class Outer(ma.Schema):
        first = ma.fields.Nested(Inner)
        hand = ma.fields.Method("bind")

        def bind(self, value):
            nested = self.fields["first"].schema
            nested.only = {"a"}
            nested.many = not nested.many
            nested._init_fields()

    outer = Outer()
    for _ in range(5):
        log.attempt(outer.dump, {"first": {}})
    log.attempt(outer.dump, [{"first": {}}, {"first": {}}, {"first": {}}], many=True)
