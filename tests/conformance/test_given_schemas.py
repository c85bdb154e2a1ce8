"""Nested fields whose class gives the schema by a property, and fields that can be called."""

import pytest

from tests.conformance.material import subclass

ROW = {"x": 1, "n": {"a": "2", "b": "t"}, "l": [{"a": 3}, {"a": "4"}], "o": None}
BAD = [
    {"n": {"a": "no"}, "l": [{"a": 1}, {"a": "no"}, {"c": 1}]},
    {"n": 7, "l": [7]},
    {"n": None, "l": None},
    {"n": [{"a": 1}], "l": {"a": 1}},
    {"n": {}, "l": [{}], "more": 1},
]


def passed_on(self, given, log):
    return given()


def noted(self, given, log):
    log("asked", self.name, type(self.parent).__name__, type(self.root).__name__)
    return given()


def counted(self, given, log):
    self.root.asked = getattr(self.root, "asked", 0) + 1
    return given()


def looks_around(self, given, log):
    log("around", list(self.root.fields), self.root.fields["x"].parent is self.root)
    return given()


def made_anew(self, given, log):
    self._schema = None
    return given()


def narrowed(self, given, log):
    schema = given()
    schema.only = {"a"}
    return schema


def more_of_them(self, given, log):
    schema = given()
    schema.unknown = "include"
    return schema


def of_many(self, given, log):
    schema = given()
    schema.many = True
    return schema


def another_each_time(self, given, log):
    log("another")
    return type(given())()


def with_hook(self, given, log):
    schema = given()
    return type("Hooked", (type(schema),), {"error_messages": {"type": "hooked"}})()


def of_its_own_kind(self, given, log):
    schema = given()

    class Answer:
        many = False

        def dump(self, obj, **options):
            log("dump", obj, sorted(options))
            return schema.dump(obj, many=options["many"])

        def load(self, data, **options):
            log("load", data, sorted(options))
            return schema.load(data, **options)

    return Answer()


def fails(self, given, log):
    raise LookupError("no schema")


def refuses(self, given, log):
    raise log.error("refused")


GIVEN = [
    passed_on, noted, counted, looks_around, made_anew, narrowed, more_of_them, of_many,
    another_each_time, with_hook, of_its_own_kind, fails, refuses,
]  # fmt: skip


def classes(ma, log, give, **options):
    fields = ma.fields

    class Given(fields.Nested):
        @property
        def schema(self):
            return give(self, lambda: fields.Nested.schema.fget(self), log)

    class Inner(ma.Schema):
        a = fields.Integer(required=True)
        b = fields.String(validate=ma.validate.Length(max=3))

    class Outer(ma.Schema):
        x = fields.Integer()
        n = Given(Inner, allow_none=True, **options)
        l = fields.List(Given(Inner))  # noqa: E741
        o = Given(Inner)

    return Outer


@pytest.mark.parametrize(
    "options", [{}, {"many": True}, {"unknown": "exclude"}, {"only": ("a",)}], ids=repr
)
@pytest.mark.parametrize("give", GIVEN, ids=lambda each: each.__name__)
def test_a_property_gives_the_schema(ma, log, give, options):
    log.error = ma.ValidationError
    cls = classes(ma, log, give, **options)
    shared = cls()
    for schema in (cls(), shared, cls(), shared, cls(), cls(partial=("n.a", "l.a")), cls()):
        log.attempt(schema.dump, ROW)
        log.attempt(schema.load, ROW)
        log.attempt(schema.dump, [ROW, ROW], many=True)
        for data in BAD:
            log.attempt(schema.load, data)
        log("asked", getattr(schema, "asked", None), sorted(vars(schema)))


@pytest.mark.parametrize("name", ["_load", "_test_collection", "_serialize", "_deserialize"])
def test_other_methods_of_it_are_the_users(ma, log, name):
    cls = classes(ma, log, noted)
    kind = type(cls._declared_fields["n"])
    original = getattr(kind, name)

    def method(self, *args, **kwargs):
        log("method", name, len(args), sorted(kwargs))
        return original(self, *args, **kwargs)

    setattr(kind, name, method)
    for _ in range(4):
        schema = cls()
        log.attempt(schema.dump, ROW)
        log.attempt(schema.load, ROW)


def test_the_property_is_replaced(ma, log):
    cls = classes(ma, log, passed_on)
    kind = type(cls._declared_fields["n"])
    shared = cls()
    for give in (noted, passed_on, fails, noted):
        for schema in (cls(), shared, cls()):
            log.attempt(schema.dump, ROW)
            log.attempt(schema.load, ROW)
        kind.schema = property(
            lambda self, give=give: give(self, lambda: ma.fields.Nested.schema.fget(self), log)
        )


def test_fields_that_can_be_called(ma, log):
    class Callable:
        def __call__(self, value, param=None, ctx=None):
            log("called", value)
            return value

    Amount = subclass(Callable, ma.fields.Integer)

    class S(ma.Schema):
        amount = Amount(required=True)
        amounts = ma.fields.List(Amount())

    shared = S()
    for schema in (S(), S(), S(), S(), shared, shared):
        log.attempt(schema.dump, {"amount": "1", "amounts": [1, "2"]})
        log.attempt(schema.load, {"amount": "1", "amounts": [1, "no"]})
        log("called", schema.fields["amount"](3), schema.fields["amount"].parent is schema)
