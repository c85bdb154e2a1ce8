"""Nested fields whose class gives the schema by a property, and fields that can be called."""

import pytest

from tests.conformance.material import subclass, written

ROW = {"x": 1, "n": {"a": "2", "b": "t"}, "l": [{"a": 3}, {"a": "4"}], "o": None}
BAD = [
    {"n": {"a": "no"}, "l": [{"a": 1}, {"a": "no"}, {"c": 1}]}, {"n": 7, "l": [7]},
    {"n": None, "l": None}, {"n": [{"a": 1}], "l": {"a": 1}}, {"n": {}, "l": [{}], "more": 1},
]  # fmt: skip


class Answer:
    """It answers as a schema does, and is of another class."""

    many = False

    def __init__(self, schema, log):
        self.schema, self.log = schema, log

    def dump(self, obj, **options):
        self.log("dump", obj, sorted(options))
        return self.schema.dump(obj, many=options["many"])

    def load(self, data, **options):
        self.log("load", data, sorted(options))
        return self.schema.load(data, **options)


GIVEN = written(
    {"Answer": Answer}, "self, given, log",
    passed_on="return given()",
    noted="""log("asked", self.name, type(self.parent).__name__, type(self.root).__name__)
return given()""",
    counted='self.root.asked = getattr(self.root, "asked", 0) + 1; return given()',
    looks_around="""log("around", list(self.root.fields), self.root.fields["x"].parent is self.root)
return given()""",
    made_anew="self._schema = None; return given()",
    narrowed='schema = given(); schema.only = {"a"}; return schema',
    more_of_them='schema = given(); schema.unknown = "include"; return schema',
    of_many="schema = given(); schema.many = True; return schema",
    another_each_time='log("another"); return type(given())()',
    with_hook="""cls = type(given())
return type("Hooked", (cls,), {"error_messages": {"type": "hooked"}})()""",
    of_its_own_kind="return Answer(given(), log)",
    fails='raise LookupError("no schema")',
    refuses='raise log.error("refused")',
)  # fmt: skip


def classes(ma, log, give, **options):
    fields = ma.fields

    class Given(fields.Nested):
        @property
        def schema(self):
            return GIVEN[give](self, lambda: fields.Nested.schema.fget(self), log)

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
@pytest.mark.parametrize("give", GIVEN)
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


def test_the_property_is_replaced(ma, log):
    cls = classes(ma, log, "passed_on")
    kind = type(cls._declared_fields["n"])
    shared = cls()
    for name in ("noted", "passed_on", "fails", "noted"):
        for schema in (cls(), shared, cls()):
            log.attempt(schema.dump, ROW)
            log.attempt(schema.load, ROW)
        kind.schema = property(
            lambda self, give=GIVEN[name]: give(
                self, lambda: ma.fields.Nested.schema.fget(self), log
            )
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
