"""Methods overridden or replaced, on every level, before and after the first use."""

import datetime as dt
import inspect
import itertools
from unittest import mock

import pytest

from tests.conformance.harness import FROM_FIRST_USE
from tests.conformance.lacking import REMEMBERS, without
from tests.conformance.material import OBJECTS, Plain, schema_of, subclass

MODES = FROM_FIRST_USE

PLACES = ["class", "base", "mixin", "behind", "instance", "library"]
FIELD_METHODS = [
    "serialize", "get_value", "_serialize", "_to_string", "_format_num", "deserialize",
    "_deserialize", "_validate", "_validate_missing", "_validated", "make_error",
]  # fmt: skip


def put(log, place, owners, instance, name, method):
    """Put a method into its place, and return what takes it away again."""
    if place == "instance":
        setattr(instance, name, method.__get__(instance))
        return lambda: delattr(instance, name)
    owner = owners[place]
    if place == "library":
        original = inspect.getattr_static(owner, name)
        log.patch(owner, name, method)
        return lambda: setattr(owner, name, original)
    setattr(owner, name, method)
    return lambda: delattr(owner, name)


def use(log, schema):
    log("use")
    log.attempt(schema.dump, [{"f": "1", "g": "2"}, Plain(f=3, g="x"), {"g": None}], many=True)
    log.attempt(schema.dump, {"f": "4", "g": 5})
    for data in ({"f": "1", "g": "x"}, {"f": "bad"}, {"f": None, "g": 3}, {}, {"f": True}):
        log.attempt(schema.load, data)
    log.attempt(schema.load, [{"f": 1}, {"f": "bad"}], many=True)
    log.attempt(schema.validate, {"f": "60"})


@pytest.mark.parametrize("when", ["before", "after", "both"])
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", FIELD_METHODS)
def test_field_methods(ma, log, name, place, when):
    integer = ma.fields.Integer
    base, mixin, behind = subclass(integer), subclass(), subclass()
    own = subclass(mixin, base, behind)
    field = own(as_string=True, required=True, validate=ma.validate.Range(max=50))
    schema = schema_of(ma, {"f": field, "g": ma.fields.String(), "h": integer()})
    if when != "before":
        use(log, schema)
    original = getattr(integer, name)

    def method(self, *args, **kwargs):
        log(name, [type(arg).__name__ for arg in args], sorted(kwargs), args[:2])
        return original(self, *args, **kwargs)

    owners = {"class": own, "base": base, "mixin": mixin, "behind": behind, "library": integer}
    take_away = put(log, place, owners, schema.fields["f"], name, method)
    use(log, schema)
    use(log, schema)
    if when == "both":
        take_away()
        use(log, schema)
        use(log, schema)


DUMP_METHODS = [
    "get_attribute", "_serialize", "dump", "_invoke_dump_processors", "_invoke_processors",
]  # fmt: skip
SCHEMA_METHODS = [
    *DUMP_METHODS,
    "load", "_do_load", "_deserialize", "_call_and_store", "handle_error",
    "_invoke_load_processors", "_invoke_field_validators", "_invoke_schema_validators",
    "_run_validator",
]  # fmt: skip


def noting(ma, log, name):
    """The method of a schema that says that it is called, and goes on."""
    original = getattr(ma.Schema, name)

    def method(*args, **kwargs):
        log(name, args[1:] if name in DUMP_METHODS else len(args), sorted(kwargs))
        log("of", *[type(each).__name__ for each in args[:1] if isinstance(each, ma.Schema)])
        return original(*args, **kwargs)

    return staticmethod(method) if name == "_call_and_store" else method


@pytest.mark.parametrize("when", ["before", "after", "both"])
@pytest.mark.parametrize("place", [place for place in PLACES if place != "behind"])
@pytest.mark.parametrize("name", SCHEMA_METHODS)
def test_schema_methods(ma, log, name, place, when):
    class Base(ma.Schema):
        f = ma.fields.Integer(required=True)
        g = ma.fields.Nested({"x": ma.fields.Integer()})

        @ma.validates("f")
        def check(self, value, **kwargs):
            log("check", value, kwargs)
            if value == 13:
                raise ma.ValidationError("unlucky")

        check_all = ma.validates_schema(log.hook("check_all"))
        after = ma.post_dump(ma.post_load(log.hook("post")))

    mixin = subclass()
    own = subclass(mixin, Base)
    schema = own()

    def use_it():
        log("use")
        for call in (schema.dump, schema.load):
            log.attempt(call, [{"f": 1, "g": {"x": 1}}, {"f": "2"}], many=True)
            log.attempt(call, {"f": 13, "g": {"x": 1}})
        log.attempt(
            schema.dump, [Plain(f=1, g=Plain(x="2")), OBJECTS["namedtuple"](f=3)], many=True
        )
        log.attempt(schema.load, {"f": "x", "z": 1})
        log.attempt(schema.validate, {"f": "x"})

    if when != "before":
        use_it()
    owners = {"class": own, "base": Base, "mixin": mixin, "library": ma.Schema}
    take_away = put(log, place, owners, schema, name, noting(ma, log, name))
    use_it()
    use_it()
    if when == "both":
        take_away()
        use_it()


@pytest.mark.parametrize("place", ["outer", "inner", "inner-instance", "library"])
@pytest.mark.parametrize("name", SCHEMA_METHODS)
def test_schema_methods_of_a_nested_schema(ma, log, name, place):
    class Inner(ma.Schema):
        x = ma.fields.Integer(required=True)
        y = ma.fields.String(attribute="z")

    class Outer(ma.Schema):
        one = ma.fields.Nested(Inner)
        many = ma.fields.Nested(Inner, many=True)
        listed = ma.fields.List(ma.fields.Nested(lambda: Inner(only=("x",))))
        plucked = ma.fields.Pluck(Inner, "x")

    schema = Outer()
    obj, item = {"x": "1", "z": 2}, {"x": "1", "y": "2"}
    data = {"one": obj, "many": [obj, obj], "listed": [obj], "plucked": obj}
    good = {"one": item, "many": [item, item], "listed": [{"x": 1}], "plucked": 4}
    bad = {"one": {}, "many": [item, {"x": "bad"}], "listed": [{"x": 1, "q": 2}], "plucked": "a"}
    log.attempt(schema.dump, data)
    log.attempt(schema.load, good)
    nested = schema.fields["many"].schema
    owners = {"outer": Outer, "inner": Inner, "library": ma.Schema}
    put(log, place.removeprefix("inner-"), owners, nested, name, noting(ma, log, name))
    for _ in range(2):
        log.attempt(schema.dump, data)
        log.attempt(schema.dump, [data, data], many=True)
        log.attempt(schema.load, good)
        log.attempt(schema.load, [good, bad, good], many=True)


NESTED_METHODS = [
    "_load", "_test_collection", "_deserialize", "_serialize", "schema",
    "_nested_normalized_option",
]  # fmt: skip


@pytest.mark.parametrize("gives", ["upstream's schema", "a schema"])
@pytest.mark.parametrize("place", ["class", "instance", "library"])
@pytest.mark.parametrize("name", NESTED_METHODS)
def test_methods_of_nested_fields(ma, log, name, place, gives):
    own = subclass(ma.fields.Nested)
    if gives == "a schema":
        own.schema = property(lambda self: log("given") or super(own, self).schema)
    inner = ma.Schema.from_dict({"x": ma.fields.Integer()})
    schema = schema_of(ma, {"n": own(inner), "m": own(inner, many=True), "i": ma.fields.Integer()})
    data = {"n": {"x": "1"}, "m": [{"x": 2}, {"x": "bad"}]}
    log.attempt(schema.load, data)
    log.attempt(schema.dump, data)
    original = getattr(ma.fields.Nested, name)

    def made(self, *args, **kwargs):
        log(name, args[:1], sorted(kwargs))
        return original(self, *args, **kwargs)

    if name == "schema":
        made = property(lambda self: log("schema") or inner())
        if place == "instance":
            return
    owners = {"class": own, "library": ma.fields.Nested}
    put(log, place, owners, schema.fields["n"], name, made)
    for _ in range(2):
        log.attempt(schema.load, data)
        log.attempt(schema.load, [data, {"n": 3}], many=True)
        log.attempt(schema.dump, data)


MOCKED = (
    "Integer._serialize", "Field.get_value", "String.serialize", "cls.get_attribute",
    "Schema._serialize", "Integer._deserialize", "Integer._validated", "String.deserialize",
    "Field._validate", "Length.__call__", "cls._do_load", "cls.handle_error", "Schema._deserialize",
)  # fmt: skip


def test_mocks_wrapped_around_methods(ma, log):
    cls = ma.Schema.from_dict(
        {"f": ma.fields.Integer(), "g": ma.fields.String(validate=ma.validate.Length(max=2))}
    )
    schema = cls()

    def use_it():
        for call in (schema.dump, schema.load):
            for data in ({"f": 1, "g": "x"}, {"f": 1, "g": "long"}):
                log.attempt(call, data)
            log.attempt(call, [{"f": 1}, {"g": "long"}], many=True)

    use_it()
    of = {"Schema": ma.Schema, "cls": cls, "Length": ma.validate.Length, **vars(ma.fields)}
    for path in MOCKED:
        owner, _, name = path.partition(".")
        for options in ({"return_value": 7}, {"autospec": True, "side_effect": KeyError("mock")}):
            with mock.patch.object(of[owner], name, **options) as mocked:
                use_it()
                log(name, mocked.call_count)
            use_it()


ATTRIBUTES = [
    "data_key", "dump_default", "attribute", "name", "load_default", "required", "allow_none",
    "validators", "pre_load",
]  # fmt: skip


@pytest.mark.parametrize("attribute", ATTRIBUTES)
@pytest.mark.parametrize("sort", ["property", "descriptor", "getattr", "getattribute", "class"])
@pytest.mark.parametrize("late", [False, True])
def test_computed_field_attributes(ma, log, late, sort, attribute):
    calls = [0]

    def compute(self=None):
        calls[0] += 1
        if attribute in ("validators", "pre_load"):
            return [log.spy("listed", lambda value: value)]
        return f"computed {calls[0]}"

    def ask(self, name):
        return compute() if name == attribute else object.__getattribute__(self, name)

    def missed(self, name):
        if name != attribute:
            raise AttributeError(name)
        return compute()

    members = {
        "property": lambda: {attribute: property(compute, lambda self, value: None)},
        "descriptor": lambda: {
            attribute: type("D", (), {"__get__": lambda self, obj, owner: compute()})()
        },
        "getattribute": lambda: {"__getattribute__": ask},
        "getattr": lambda: {"__getattr__": missed},
        "class": lambda: {attribute: compute()},
    }[sort]()
    kind = type("Computed", (ma.fields.Raw,), {} if late else members)
    schema = schema_of(ma, {"f": kind(), "g": ma.fields.Raw()}, unknown=ma.INCLUDE)
    # Built now: a schema that nobody has looked at reads these when it is first looked into.
    field = schema.fields["f"]

    def use_it():
        for call in (schema.dump, schema.load) * 3:
            log.attempt(call, {"f": 1, "computed 1": 2})
            log.attempt(call, [{"f": None}, {}], many=True)

    if late:
        use_it()
        for name, member in members.items():
            setattr(kind, name, member)
    if sort in ("class", "getattr"):
        field.__dict__.pop(attribute)
    use_it()
    if late and sort not in ("class", "getattr"):
        for name in members:
            delattr(kind, name)
        use_it()


SETTINGS = {
    "_CHECK_ATTRIBUTE": ("String", [True, False, None, 0, "yes"]),
    "num_type": (
        "Integer",
        [int, float, str, bool, complex, staticmethod(lambda value: ("converted", value))],
    ),
    "truthy": ("Boolean", [{"ja"}, ["ja"], frozenset({"ja"}), {"ja": 1}, set()]),
    "falsy": ("Boolean", [{"nein"}, {"nein": 1}, frozenset(), set()]),
}


@pytest.mark.parametrize("place", ["class", "base", "instance", "library", "before"])
@pytest.mark.parametrize(
    ("name", "value"), [(name, each) for name, (_, values) in SETTINGS.items() for each in values]
)
def test_settings_of_a_field_class(ma, log, name, value, place):
    library = getattr(ma.fields, SETTINGS[name][0])
    base = subclass(library)
    own = subclass(base)
    value = value.copy() if isinstance(value, set) else value
    if place == "before":
        setattr(own, name, value)
    fields = {"f": own(dump_default=5), "g": library(), "h": ma.fields.Float(as_string=True)}
    schema = schema_of(ma, fields)

    def use_it():
        for given in ("yes", "ja", "1", 0, 1, "nein", [], None, 2, 2.5):
            log.attempt(schema.dump, {"f": given, "g": given, "h": given})
            log.attempt(schema.load, {"f": given, "g": given, "h": given})
        log.attempt(schema.dump, {})

    use_it()
    if place == "library":
        log.patch(library, name, value)
    elif place != "before":
        owner = {"class": own, "base": base, "instance": schema.fields["f"]}[place]
        setattr(owner, name, value)
    use_it()
    if isinstance(value, set):
        value ^= {"yes", "ja"}
        use_it()


@pytest.mark.parametrize("table", ["SERIALIZATION_FUNCS", "DESERIALIZATION_FUNCS"])
@pytest.mark.parametrize("place", ["edited", "replaced", "instance", "subclass", "removed"])
def test_formatting_and_parsing_functions(ma, log, place, table):
    fields = ma.fields
    own = subclass(fields.DateTime)
    made = {"f": own(), "g": fields.Date(), "h": fields.DateTime("custom")}
    schema = schema_of(ma, {**made, "i": fields.List(fields.DateTime())})
    now, text = dt.datetime(2020, 1, 2, 3, 4, 5), "2020-01-02T03:04:05"

    def use_it():
        for data in ({"f": now, "g": now.date(), "i": [now]}, {"h": now}):
            log.attempt(schema.dump, data)
            log.attempt(schema.dump, [data], many=True)
        for data in ({"f": text, "i": [text]}, {"f": "x", "g": "2020-01-01"}, {"h": "custom"}):
            log.attempt(schema.load, data)

    use_it()
    own_function = log.spy("own", lambda value: f"<{value}>")
    functions = dict(getattr(own, table))
    if place == "replaced":
        log.patch(fields.DateTime, table, {"custom": own_function})
    elif place == "instance":
        setattr(schema.fields["f"], table, {"iso": own_function})
    elif place == "subclass":
        setattr(own, table, {**functions, "iso": own_function})
    else:
        log.patch(fields.DateTime, table, functions)
        use_it()
        functions.update(iso=own_function, custom=own_function)
        if place == "removed":
            del functions["iso"]
    use_it()


def test_a_field_that_converts_by_itself_costs_nobody_else(ma, log):
    class Quiet(ma.fields.Field):
        def _serialize(self, value, attr, obj, **kwargs):
            log("_serialize", self.name, value, attr, obj, kwargs)
            return super()._serialize(value, attr, obj, **kwargs)

        def _deserialize(self, value, attr, data, **kwargs):
            log("_deserialize", self.name, value, attr, data, kwargs)
            return value

    class Loud(Quiet):
        def serialize(self, attr, obj, accessor=None, **kwargs):
            log("serialize", attr, obj, accessor, kwargs)
            return super().serialize(attr, obj, accessor, **kwargs)

        def get_value(self, obj, attr, accessor=None, default=5):
            log("get_value", obj, attr, accessor, default)
            return super().get_value(obj, attr, accessor, default)

        def deserialize(self, value, *args, **kwargs):
            log("deserialize", value, args, kwargs)
            return super().deserialize(value, *args, **kwargs)

    schema = schema_of(
        ma,
        {
            "a": ma.fields.Integer(),
            "f": Loud(data_key="F", attribute="x.y"),
            "g": Quiet(dump_default=3),
            "h": ma.fields.List(Quiet()),
            "i": ma.fields.Dict(keys=Quiet(), values=Loud()),
            "j": ma.fields.Tuple((Quiet(), Loud())),
            "k": ma.fields.String(),
            "n": ma.fields.Nested({"x": Loud()}),
        },
    )
    data = {"a": "1", "x": {"y": 2}, "h": [1, None], "i": {"p": 1}, "j": (1, 2), "k": 3}
    data = log.watch({**data, "n": {"x": 3}})
    for _ in range(2):
        log.attempt(schema.dump, data)
        log.attempt(schema.dump, [{}, data], many=True)
    data = log.watch({"F": 1, "h": [1, 2], "i": {"k": "v"}, "j": [1, 2], "n": {"x": 3}})
    for partial in (None, True, False, ("n.x", "f"), []):
        log.attempt(schema.load, data, partial=partial)
        log.attempt(schema.load, [data], many=True, partial=partial)


def test_a_field_returning_missing(ma, log):
    absent = type("Absent", (ma.fields.Field,), {"_serialize": lambda *args, **kwargs: ma.missing})
    fields = {
        "a": absent(),
        "b": ma.fields.List(absent()),
        "e": ma.fields.Tuple([absent()]),
        "c": ma.fields.Function(lambda obj: ma.missing),
        "d": ma.fields.Constant(ma.missing),
        "f": ma.fields.Raw(),
    }
    return schema_of(ma, fields).dump({"a": 1, "b": [1], "e": (1,), "f": 2})


@pytest.mark.parametrize("error", [ValueError, KeyError, AttributeError, "ValidationError"])
@pytest.mark.parametrize(
    "where",
    ["_serialize", "serialize", "get_value", "method", "dump_default", "load_default",
     "_deserialize", "deserialize", "validate", "pre_load", "post_load"],
)  # fmt: skip
def test_exceptions_of_user_code(ma, log, where, error):
    cause = ma.ValidationError({"x": ["y"]}, "field") if isinstance(error, str) else error("boom")
    count = [0]

    def fail(*args, **kwargs):
        count[0] += 1
        raise cause

    own = subclass(ma.fields.Raw)
    given = {
        "validate": [ma.validate.Length(max=1), fail],
        "pre_load": fail,
        "post_load": [str, fail],
        "dump_default": fail,
        "load_default": fail,
    }
    if hasattr(own, where):
        setattr(own, where, fail)

    class S(ma.Schema):
        a = ma.fields.Integer()
        f = own(**{name: made for name, made in given.items() if name == where})
        m = ma.fields.Method("method")
        b = ma.fields.Raw()

        def method(self, obj):
            return fail() if where == "method" else 1

    schema = S()
    for obj in ({"a": 1, "f": 2}, {"a": 1}, Plain(a=3, f=4)):
        log.attempt(schema.dump, obj)
        log.attempt(schema.dump, [{"a": 2}, obj], many=True)
    for data in ({"a": 1, "f": "xx"}, {"a": "bad"}, {"a": 3, "f": None}, {"f": [], "b": 1}):
        log.attempt(schema.load, data)
        log.attempt(schema.load, [{"a": 2}, data], many=True)
        log.attempt(schema.validate, data)
    log("count", count)


@pytest.mark.parametrize(
    ("late", "place"),
    [
        *itertools.product((False, True), ("getattr", "hooks")),
        (False, "getattribute"),
        # It would see that such a release has asked for hooks before.
        pytest.param(True, "getattribute", marks=without(REMEMBERS)),
    ],
)
def test_schemas_that_answer_for_their_own_attributes(ma, log, late, place):
    # While a schema is made, compiled code may look two attributes up in another order.
    watching = []

    def asked(self, name):
        if watching:
            log("asked", name)
        return object.__getattribute__(self, name)

    members = {} if place == "hooks" else {f"__{place}__": asked}
    cls = type("S", (ma.Schema,), {"f": ma.fields.Integer(), **({} if late else members)})
    schema = cls()
    log("fields", list(schema.fields))

    def use_it():
        for _ in range(3):
            log.attempt(schema.dump, [{"f": 1}])
            log.attempt(schema.dump, {"f": 1}, many=False)

    if late:
        use_it()
        for name, member in members.items():
            setattr(cls, name, member)
    watching.append(True)
    if place == "hooks":
        schema._hooks = {**cls._hooks, "pre_dump": [], "post_dump": []}
    use_it()
    if late and place == "getattr":
        vars(schema).pop("many")
        use_it()
    if late:
        for name in members:
            delattr(cls, name)
        use_it()


def test_valid_data_that_is_false(ma, log):
    class Own(ma.fields.Raw):
        def _deserialize(self, value, *args, **kwargs):
            raise ma.ValidationError("no", valid_data=value)

    fields = {"f": Own(), "l": ma.fields.List(Own()), "d": ma.fields.Dict(values=Own())}
    schema = schema_of(ma, fields)
    for value in (0, 1, None, [], [1], "", "x", {}, {"a": 1}):
        log.attempt(schema.load, {"f": value, "l": [value, value], "d": {"k": value}})
