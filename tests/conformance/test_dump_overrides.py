"""Methods overridden or replaced, on every level, before and after the first use."""

from unittest import mock

import pytest

from tests.conformance.harness import FROM_FIRST_USE
from tests.conformance.material import OBJECTS, Plain, schema_of, subclass

MODES = FROM_FIRST_USE

FIELD_METHODS = ["serialize", "get_value", "_serialize"]
NUMBER_METHODS = ["_format_num", "_to_string"]
PLACES = ["class", "base", "mixin", "instance", "library"]


def wrapped(log, name, original):
    """A method that records its arguments and goes on to ``original``."""

    def method(self, *args, **kwargs):
        log(name, [type(arg).__name__ for arg in args], sorted(kwargs), args[:1])
        return original(self, *args, **kwargs)

    return method


def rows():
    return [{"f": "1", "g": "2"}, Plain(f=3, g="x"), {"g": None}]


def use(log, schema):
    log("use")
    log.attempt(schema.dump, rows(), many=True)
    log.attempt(schema.dump, {"f": "4", "g": 5})


@pytest.mark.parametrize("when", ["before", "after", "both"])
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", FIELD_METHODS + NUMBER_METHODS)
def test_field_methods(ma, log, name, place, when):
    integer = ma.fields.Integer

    Base = subclass(integer)
    Mixin = subclass()
    Own = subclass(Mixin, Base)
    schema = schema_of(ma, {"f": Own(as_string=True), "g": ma.fields.String(), "h": integer()})
    if when != "before":
        use(log, schema)
    original = getattr(integer, name)
    method = wrapped(log, name, original)
    if place == "instance":
        field = schema.fields["f"]
        setattr(field, name, method.__get__(field))
    elif place == "library":
        log.patch(integer, name, method)
    else:
        setattr({"class": Own, "base": Base, "mixin": Mixin}[place], name, method)
    use(log, schema)
    use(log, schema)
    if when == "both":
        if place == "instance":
            delattr(schema.fields["f"], name)
        elif place == "library":
            setattr(integer, name, original)
        else:
            delattr({"class": Own, "base": Base, "mixin": Mixin}[place], name)
        use(log, schema)
        use(log, schema)


SCHEMA_METHODS = [
    "get_attribute",
    "_serialize",
    "dump",
    "_invoke_dump_processors",
    "_invoke_processors",
]


@pytest.mark.parametrize("when", ["before", "after", "both"])
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", SCHEMA_METHODS)
def test_schema_methods(ma, log, name, place, when):
    class Base(ma.Schema):
        f = ma.fields.Integer()
        g = ma.fields.Nested({"x": ma.fields.Raw()})

        @ma.post_dump
        def after(self, data, **kwargs):
            log("post", data, kwargs)
            return data

    Mixin = subclass()
    Own = subclass(Mixin, Base)
    schema = Own()

    def use_it():
        log("use")
        log.attempt(schema.dump, [{"f": 1, "g": {"x": 1}}, {"f": "2"}], many=True)
        log.attempt(schema.dump, {"f": 1, "g": {"x": 1}})

    if when != "before":
        use_it()
    original = getattr(ma.Schema, name)

    def method(self, *args, **kwargs):
        log(name, args, {key: value for key, value in kwargs.items() if key != "original_data"})
        return original(self, *args, **kwargs)

    owner = {"class": Own, "base": Base, "mixin": Mixin}.get(place)
    if place == "instance":
        setattr(schema, name, method.__get__(schema))
    elif place == "library":
        log.patch(ma.Schema, name, method)
    else:
        setattr(owner, name, method)
    use_it()
    use_it()
    if when == "both":
        if place == "instance":
            delattr(schema, name)
        elif place == "library":
            setattr(ma.Schema, name, original)
        else:
            delattr(owner, name)
        use_it()


@pytest.mark.parametrize("place", ["outer", "inner", "inner-instance"])
@pytest.mark.parametrize("name", SCHEMA_METHODS)
def test_schema_methods_of_a_nested_schema(ma, log, name, place):
    Inner = ma.Schema.from_dict({"x": ma.fields.Integer(), "y": ma.fields.String(attribute="z")})

    class Outer(ma.Schema):
        one = ma.fields.Nested(Inner)
        many = ma.fields.Nested(Inner, many=True)
        listed = ma.fields.List(ma.fields.Nested(lambda: Inner(only=("x",))))
        plucked = ma.fields.Pluck(Inner, "x")

    schema = Outer()
    item = {"x": "1", "z": 2}
    data = {"one": item, "many": [item, item], "listed": [item], "plucked": item}
    log.attempt(schema.dump, data)
    original = getattr(ma.Schema, name)

    def method(self, *args, **kwargs):
        log(name, type(self).__name__, len(args), sorted(kwargs))
        return original(self, *args, **kwargs)

    if place == "outer":
        setattr(Outer, name, method)
    elif place == "inner":
        setattr(Inner, name, method)
    else:
        nested = schema.fields["many"].schema
        setattr(nested, name, method.__get__(nested))
    for _ in range(2):
        log.attempt(schema.dump, data)
        log.attempt(schema.dump, [data, data], many=True)


HELPERS = [
    ("schema", "get_value"),
    ("utils", "get_value"),
    ("utils", "_get_value_for_key"),
    ("utils", "ensure_text_type"),
    ("utils", "timedelta_to_microseconds"),
    ("utils", "pluck"),
    ("utils", "timestamp"),
    ("utils", "is_aware"),
]


@pytest.mark.parametrize(("module", "name"), HELPERS)
def test_helpers_of_the_library(ma, log, module, name):
    import datetime as dt

    schema = schema_of(
        ma,
        {
            "f": ma.fields.String(),
            "d": ma.fields.TimeDelta(),
            "t": ma.fields.DateTime("timestamp"),
            "p": ma.fields.Pluck({"x": ma.fields.Raw()}, "x", many=True),
            "q": ma.fields.Raw(attribute="p.0"),
        },
    )
    data = {"f": b"x", "d": dt.timedelta(1), "t": dt.datetime(2020, 1, 1), "p": [{"x": 1}]}
    for _ in range(2):
        log.attempt(schema.dump, data)
    owner = getattr(ma, module)
    log.patch(owner, name, log.spy(name, getattr(owner, name)))
    for _ in range(2):
        log.attempt(schema.dump, data)
        log.attempt(schema.dump, [data, {}], many=True)


def test_mocks_wrapped_around_methods(ma, log):
    S = ma.Schema.from_dict({"f": ma.fields.Integer(), "g": ma.fields.String()})
    schema = S()
    schema.dump({"f": 1, "g": 2})
    targets = [
        (ma.fields.Integer, "_serialize"),
        (ma.fields.Field, "get_value"),
        (ma.fields.String, "serialize"),
        (S, "get_attribute"),
        (ma.Schema, "_serialize"),
    ]
    for owner, name in targets:
        with mock.patch.object(owner, name, return_value=7) as mocked:
            log.attempt(schema.dump, {"f": 1, "g": 2})
            log(name, mocked.call_count)
        log.attempt(schema.dump, {"f": 1, "g": 2})
        with mock.patch.object(owner, name, autospec=True, side_effect=KeyError("mock")) as mocked:
            log.attempt(schema.dump, [{"f": 1}, {"g": 2}], many=True)
            log(name, mocked.call_count)
        log.attempt(schema.dump, [{"f": 1}, {"g": 2}], many=True)


@pytest.mark.parametrize("kind", ["dict", "namespace", "missing", "dynamic", "namedtuple", "none"])
def test_get_attribute_overridden(ma, log, kind):
    class S(ma.Schema):
        f = ma.fields.Integer()
        g = ma.fields.String(attribute="h.i", dump_default="d")
        n = ma.fields.Nested({"x": ma.fields.Raw()})

        def get_attribute(self, obj, attr, default):
            log("get_attribute", obj, attr, default)
            if attr == "f":
                return "12"
            return super().get_attribute(obj, attr, default)

    for _ in range(2):
        log.attempt(S().dump, OBJECTS[kind](f=1, g=2))
        log.attempt(S(many=True).dump, [OBJECTS[kind](f=1, g=2)])


class _Upper:
    def __set_name__(self, owner, name):
        self.name = name


@pytest.mark.parametrize("attribute", ["data_key", "dump_default", "attribute", "name"])
@pytest.mark.parametrize("sort", ["property", "descriptor", "getattr", "getattribute", "class"])
def test_computed_field_attributes(ma, log, sort, attribute):
    calls = [0]

    def compute(self=None):
        calls[0] += 1
        return f"computed {calls[0]}"

    if sort == "property":
        members = {attribute: property(compute, lambda self, value: None)}
    elif sort == "descriptor":
        descriptor = type("D", (), {"__get__": lambda self, obj, owner: compute()})
        members = {attribute: descriptor()}
    elif sort == "getattribute":

        def ask(self, name):
            return compute() if name == attribute else object.__getattribute__(self, name)

        members = {"__getattribute__": ask}
    elif sort == "getattr":

        def missed(self, name):
            if name != attribute:
                raise AttributeError(name)
            return compute()

        members = {"__getattr__": missed}
    else:
        members = {attribute: "on the class"}
    kind = type("Computed", (ma.fields.Raw,), members)
    schema = schema_of(ma, {"f": kind(), "g": ma.fields.Raw()})
    if sort in ("class", "getattr"):
        schema.fields["f"].__dict__.pop(attribute)
    for _ in range(3):
        log.attempt(schema.dump, {"f": 1, "computed 1": 2})
        log.attempt(schema.dump, [{"f": 1}, {}], many=True)


@pytest.mark.parametrize("value", [True, False, None, 0, "yes"])
@pytest.mark.parametrize("place", ["class", "instance", "later"])
def test_check_attribute(ma, log, place, value):
    Own = subclass(ma.fields.String)
    if place == "class":
        Own._CHECK_ATTRIBUTE = value
    schema = schema_of(ma, {"f": Own(dump_default=5), "g": ma.fields.Raw()})
    if place == "later":
        log.attempt(schema.dump, {"f": 1})
        Own._CHECK_ATTRIBUTE = value
    if place == "instance":
        schema.fields["f"]._CHECK_ATTRIBUTE = value
    log.attempt(schema.dump, {"f": 1})
    log.attempt(schema.dump, {})


@pytest.mark.parametrize("num_type", [int, float, str, bool, complex, "lambda", "method"])
@pytest.mark.parametrize("place", ["class", "instance", "library"])
def test_num_type(ma, log, place, num_type):
    made = {
        "lambda": log.spy("num_type", lambda value: value),
        "method": staticmethod(lambda value: ("converted", value)),
    }.get(num_type, num_type)

    Own = subclass(ma.fields.Integer)
    schema = schema_of(ma, {"f": Own(), "g": ma.fields.Float(as_string=True)})
    log.attempt(schema.dump, {"f": "1", "g": 2})
    if place == "class":
        Own.num_type = made
    elif place == "instance":
        schema.fields["f"].num_type = made
    else:
        log.patch(ma.fields.Float, "num_type", made)
        log.patch(ma.fields.Integer, "num_type", made)
    log.attempt(schema.dump, {"f": "1", "g": 2})
    log.attempt(schema.dump, {"f": 2.5, "g": "x"})


@pytest.mark.parametrize("place", ["edited", "replaced", "instance", "subclass", "removed"])
def test_formatting_functions(ma, log, place):
    import datetime as dt

    Own = subclass(ma.fields.DateTime)
    schema = schema_of(
        ma,
        {
            "f": Own(),
            "g": ma.fields.Date(),
            "h": ma.fields.DateTime("custom"),
            "i": ma.fields.List(ma.fields.DateTime()),
        },
    )
    now = dt.datetime(2020, 1, 2, 3, 4, 5)
    data = {"f": now, "g": now.date(), "h": now, "i": [now]}
    log.attempt(schema.dump, data)
    format_it = log.spy("format", lambda value: f"<{value.year}>")
    if place == "edited":
        log.patch(ma.fields.DateTime, "SERIALIZATION_FUNCS", dict(Own.SERIALIZATION_FUNCS))
        log.attempt(schema.dump, data)
        ma.fields.DateTime.SERIALIZATION_FUNCS["iso"] = format_it
        ma.fields.DateTime.SERIALIZATION_FUNCS["custom"] = format_it
    elif place == "replaced":
        log.patch(ma.fields.DateTime, "SERIALIZATION_FUNCS", {"custom": format_it})
    elif place == "instance":
        schema.fields["f"].SERIALIZATION_FUNCS = {"iso": format_it}
    elif place == "subclass":
        Own.SERIALIZATION_FUNCS = {**Own.SERIALIZATION_FUNCS, "iso": format_it}
    else:
        log.patch(ma.fields.DateTime, "SERIALIZATION_FUNCS", dict(Own.SERIALIZATION_FUNCS))
        del ma.fields.DateTime.SERIALIZATION_FUNCS["iso"]
    log.attempt(schema.dump, data)
    log.attempt(schema.dump, [data], many=True)


def test_a_field_that_serializes_itself_costs_nobody_else(ma, log):
    class Loud(ma.fields.Field):
        def serialize(self, attr, obj, accessor=None, **kwargs):
            log("serialize", attr, obj, accessor, kwargs)
            return super().serialize(attr, obj, accessor, **kwargs)

        def get_value(self, obj, attr, accessor=None, default=5):
            log("get_value", obj, attr, accessor, default)
            return super().get_value(obj, attr, accessor, default)

        def _serialize(self, value, attr, obj, **kwargs):
            log("_serialize", value, attr, obj, kwargs)
            return super()._serialize(value, attr, obj, **kwargs)

    class Quiet(ma.fields.Field):
        def _serialize(self, value, attr, obj, **kwargs):
            log("quiet", value, attr, obj, kwargs)
            return value

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
        },
    )
    data = {"a": "1", "x": {"y": 2}, "h": [1, None], "i": {"p": 1}, "j": (1, 2), "k": 3}
    for _ in range(2):
        log.attempt(schema.dump, data)
        log.attempt(schema.dump, [{}, data], many=True)


def test_a_field_returning_missing(ma, log):
    class Absent(ma.fields.Field):
        def _serialize(self, value, attr, obj, **kwargs):
            return ma.missing

    schema = schema_of(
        ma,
        {
            "a": Absent(),
            "b": ma.fields.List(Absent()),
            "c": ma.fields.Function(lambda obj: ma.missing),
            "d": ma.fields.Constant(ma.missing),
            "e": ma.fields.Tuple([Absent()]),
            "f": ma.fields.Raw(),
        },
    )
    log.attempt(schema.dump, {"a": 1, "b": [1], "e": (1,), "f": 2})


@pytest.mark.parametrize("error", [ValueError, KeyError, AttributeError, "ValidationError"])
@pytest.mark.parametrize("where", ["_serialize", "serialize", "get_value", "method", "default"])
def test_exceptions_of_user_code(ma, log, where, error):
    cause = ma.ValidationError({"x": ["y"]}, "field") if isinstance(error, str) else error("boom")
    count = [0]

    def fail(*args, **kwargs):
        count[0] += 1
        raise cause

    Own = subclass(ma.fields.Raw)

    class S(ma.Schema):
        a = ma.fields.Integer()
        f = Own(dump_default=fail if where == "default" else None)
        m = ma.fields.Method("method")

        def method(self, obj):
            return fail() if where == "method" else 1

    if where not in ("method", "default"):
        setattr(Own, where, fail)
    schema = S()
    for obj in ({"a": 1, "f": 2}, {"a": 1}, Plain(a=3, f=4)):
        log.attempt(schema.dump, obj)
        log.attempt(schema.dump, [{"a": 2}, obj], many=True)
    log("count", count)


@pytest.mark.parametrize("place", ["getattribute", "getattr", "dump_fields", "hooks", "many"])
def test_schemas_that_answer_for_their_own_attributes(ma, log, place):
    # While a schema is made, compiled code may look two attributes up in another order.
    watching = []

    class S(ma.Schema):
        f = ma.fields.Integer()

        if place == "getattribute":

            def __getattribute__(self, name):
                if watching:
                    log("asked", name)
                return object.__getattribute__(self, name)

        elif place == "getattr":

            def __getattr__(self, name):
                log("asked", name)
                raise AttributeError(name)

        elif place == "dump_fields":

            @property
            def dump_fields(self):
                log("dump_fields")
                return {"f": self.__dict__["dumped"]["f"], "z": ma.fields.Constant(3)}

            @dump_fields.setter
            def dump_fields(self, value):
                self.__dict__["dumped"] = value

        elif place == "many":

            @property
            def many(self):
                log("many")
                return True

            @many.setter
            def many(self, value):
                pass

    schema = S()
    watching.append(True)
    if place == "hooks":
        schema._hooks = {**S._hooks, "pre_dump": [], "post_dump": []}
    for _ in range(3):
        log.attempt(schema.dump, [{"f": 1}])
        log.attempt(schema.dump, {"f": 1}, many=False)


class False_:
    """An accessor that is false, and says when it is asked."""

    def __init__(self, log):
        self.log = log

    def __bool__(self):
        self.log("asked")
        return False

    def __call__(self, *args):
        self.log("called")
        return 9
