"""What marshmallow and the standard library keep in plain containers stands in odd ones, which
answer for themselves, change unseen, or cannot be hashed."""

import collections
import enum
from typing import Any

import pytest

from tests.conformance.lacking import REMEMBERS, without
from tests.conformance.material import schema_of
from tests.invalidation.usage import use


@pytest.mark.parametrize("by_value", [False, True])
@pytest.mark.parametrize("kind", ["ordered", "folding"])
def test_members_of_an_enum(ma, log, kind, by_value):
    class Folding(dict[Any, Any]):
        def __getitem__(self, key):
            return super().__getitem__(key.lower())

        def __contains__(self, key):
            return super().__contains__(str(key).lower())

    class Colour(enum.Enum):
        red = "r"
        blue = "b"

    members = collections.OrderedDict if kind == "ordered" else Folding
    Colour._member_map_ = members(Colour._member_map_)
    Colour._value2member_map_ = members(Colour._value2member_map_)
    schema = schema_of(ma, {"f": ma.fields.Enum(Colour, by_value=by_value)})
    for text in ("red", "RED", "r", "R", "none"):
        use(log, schema, {"f": text})
    use(log, schema, {"f": Colour.red})


@pytest.mark.parametrize("option", ["fields", "exclude", "load_only", "dump_only"])
@pytest.mark.parametrize("base", [list, tuple])
def test_options_in_a_container_that_changes(ma, log, base, option):
    class Names(base):
        answer = None

        def __iter__(self):
            if self.answer:
                log("asked")
            return iter(self.answer or super().__iter__())

    S = type("S", (ma.Schema,), {"a": ma.fields.Integer(), "b": ma.fields.Integer(),
             "Meta": type("Meta", (), {option: Names(["a"])})})  # fmt: skip
    names = getattr(S.opts, option)

    def use_it():
        for _ in range(8):
            log.attempt(S().dump, {"a": 1, "b": 2})
            log.attempt(S().load, {"a": 1, "b": 2})

    use_it()
    for Names.answer in (None, ("a",), ("b",)):
        use_it()
    Names.answer = None
    if base is list:
        for change in (lambda: names.append("b"), names.clear):
            change()
            use_it()


OWNERS = {
    "schema": lambda S, schema: schema,
    "field": lambda S, schema: schema.fields["f"],
    "inner field": lambda S, schema: schema.fields["l"].inner,
    "validator": lambda S, schema: schema.fields["f"].validators[0],
    "options": lambda S, schema: S.opts,
    "declared field": lambda S, schema: S._declared_fields["f"],
    "declared inner field": lambda S, schema: S._declared_fields["l"].inner,
}


@pytest.mark.parametrize("first", ["fresh", "used"])
@pytest.mark.parametrize("kind", ["damaged", "logging", "lying"])
@pytest.mark.parametrize("owner", OWNERS)
def test_instance_dictionaries(ma, log, owner, kind, first):
    class Telling(dict[str, Any]):
        def __iter__(self):
            log("iter")
            return dict.__iter__(self)

        def keys(self):
            log("keys")
            return dict.keys(self)

        def __getitem__(self, key):
            log("item", key)
            return 100 if kind == "lying" and key == "max" else dict.__getitem__(self, key)

    class S(ma.Schema):
        f = ma.fields.Integer(validate=ma.validate.Range(0, 5))
        l = ma.fields.List(ma.fields.Integer())  # noqa: E741

    data = {"f": 9, "l": [1]}
    schema = S()
    if first == "used":
        use(log, schema, data)
        use(log, S(), data)
    keeper = OWNERS[owner](S, schema)
    if kind == "damaged":
        keeper.__dict__ = collections.OrderedDict(keeper.__dict__)
        keeper.__dict__["more"] = 1
        # Behind the back of the order that it keeps.
        del keeper.more
    else:
        keeper.__dict__ = Telling(keeper.__dict__)
    use(log, schema, data)
    for _ in range(6):
        log.attempt(S().dump, data)
        log.attempt(S().load, data)


@pytest.mark.parametrize("flag", ["relative", "require_tld"])
@pytest.mark.parametrize("value", ["", 0, None, 2.5])
@pytest.mark.parametrize("when", ["made", "later"])
def test_flags_of_an_address(ma, log, flag, value, when):
    field = ma.fields.Url(**{flag: value}) if when == "made" else ma.fields.Url()
    schema = schema_of(ma, {"f": field})
    for text in ("http://example.com", "http://local", "/path"):
        use(log, schema, {"f": text})
    if when == "later":
        for validator in schema.fields["f"].validators:
            setattr(validator, flag, value)
        for text in ("http://example.com", "http://local", "/path"):
            use(log, schema, {"f": text})


@pytest.mark.parametrize(
    # The former release formats it by the operator %.
    "kind",
    ["deleted", pytest.param("own text", marks=without(REMEMBERS))],
)
def test_the_name_of_a_nested_field(ma, log, kind):
    class Name(str):
        def __format__(self, spec):
            log("formatted")
            return "n"

    Inner = ma.Schema.from_dict({"x": ma.fields.Integer()})
    schema = schema_of(ma, {"n": ma.fields.Nested(Inner)})
    if kind == "deleted":
        del schema.fields["n"].name
    else:
        schema.fields["n"].name = Name("n")
    use(log, schema, {"n": {"x": 1}})


def test_the_fields_of_a_tuple(ma, log):
    class Fields(list[Any]):
        def __iter__(self):
            log("asked")
            return list.__iter__(self)

    schema = schema_of(ma, {"t": ma.fields.Tuple((ma.fields.Integer(),))})
    field = schema.fields["t"]
    field.tuple_fields = Fields(field.tuple_fields)
    use(log, schema, {"t": [1]}, {"t": ["x"]})
