"""Instances that are built when somebody looks: whose the fields are, and what is called."""

import abc
import inspect
import traceback

import pytest

from tests.conformance.material import subclass

NESTED = {"x": 1, "y": 2}


def relations(log, schema):
    """Which of a schema's fields, and of what is in them, is the same as which."""
    declared = type(schema)._declared_fields
    for name, field in schema.declared_fields.items():
        log(name, name in schema.fields, field is declared[name], field.parent is schema)
        for part in ("inner", "key_field", "value_field", "tuple_fields", "only", "exclude"):
            own, shared = getattr(field, part, None), getattr(declared[name], part, None)
            log(part, own is shared, type(own))
        for part in ("inner", "value_field"):
            inner = getattr(field, part, None)
            if inner is not None:
                log("inside", inner.parent is field, inner.root is schema)
                for option in ("only", "exclude"):
                    mine = getattr(inner, option, None)
                    log(option, mine is getattr(field, option, None), type(mine))


@pytest.mark.parametrize(
    "options",
    [{}, {"only": ("n.x", "l.x")}, {"only": ["a"]}, {"exclude": ("n.x", "l.x", "d.x", "t")}],
)
@pytest.mark.parametrize("used", [False, True])
def test_whose_the_fields_are(ma, log, used, options):
    fields = ma.fields

    Inner = ma.Schema.from_dict({"x": fields.Integer(), "y": fields.Integer()})

    class S(ma.Schema):
        a = fields.Integer()
        n = fields.Nested(Inner)
        l = fields.List(fields.Nested(Inner))  # noqa: E741
        d = fields.Dict(keys=fields.String(), values=fields.Nested(Inner))
        t = fields.Tuple([fields.Integer(), fields.Nested(Inner, only=("x",))])
        m = fields.Method("get_m")

        def get_m(self, obj):
            return type(self).__name__

    for _ in range(3):
        S(**options)
    schema = S(**options)
    if used:
        data = {"n": NESTED, "l": [NESTED], "d": {"k": NESTED}, "t": (1, NESTED)}
        log.attempt(schema.dump, data)
    relations(log, schema)
    if "m" in schema.fields:
        log("method", schema.fields["m"]._serialize_method.__self__ is schema)


@pytest.mark.parametrize("first", ["m", "n"])
@pytest.mark.parametrize("call", ["dump", "load"])
def test_looking_in_the_middle_of_a_call(ma, log, call, first):
    def get_m(self, obj):
        return [field.parent is self for field in self.fields.values()]

    members = {
        "m": ma.fields.Method("get_m", "get_m"),
        "n": ma.fields.List(ma.fields.Nested({"x": ma.fields.Integer()})),
    }
    order = {first: members[first], **members}
    cls = type("S", (ma.Schema,), {**order, "get_m": get_m})
    schemas = [cls() for _ in range(4)]
    for schema in schemas[:3]:
        log("result", getattr(schema, call)({"m": 1, "n": [{"x": "1"}]}))
    for schema in schemas:
        log("resolved", schema.fields["n"].inner._schema is not None)
    log("apart", len({id(schema.fields["n"].inner.schema) for schema in schemas}))


@pytest.mark.parametrize("gone", ["many", "partial", "unknown", "error_messages"])
@pytest.mark.parametrize("name", ["dump_fields", "load_fields", "get_attribute"])
def test_one_attribute_deleted_and_another_set(ma, log, name, gone):
    S = ma.Schema.from_dict({"a": ma.fields.Integer()})
    for used in (False, True, True):
        schema = S()
        if used:
            log("dumped", schema.dump({"a": 1}), schema.load({"a": 1}))
        delattr(schema, gone)
        setattr(schema, name, (lambda obj, attr, default: 9) if name == "get_attribute" else {})
        log.attempt(schema.dump, {"a": 1}, many=False)
        log.attempt(schema.load, {"a": 1}, many=False, partial=False, unknown="raise")


def test_unknown_names_and_a_repr_of_ones_own(ma, log):
    class S(ma.Schema):
        a = ma.fields.Integer()
        n = ma.fields.Nested({"x": ma.fields.Integer()})

        def __repr__(self):
            log("repr", sorted(vars(self)))
            return "<own>"

    for options in ({}, {"only": ("b",)}, {"only": ("b.x",)}, {"exclude": ("b",)}):
        for _ in range(3):
            log.attempt(lambda given=options: S(**given) and None)


def test_nothing_of_it_is_seen_on_the_class(ma, log):
    Base = ma.Schema.from_dict({"a": ma.fields.Integer()})
    before = dir(Base), sorted(vars(Base)), sorted(vars(ma.Schema))
    Base(), Base(), Base().dump({"a": 1})

    class S(Base):
        pass

    log("same", before == (dir(Base), sorted(vars(Base)), sorted(vars(ma.Schema))))
    for cls in (ma.Schema, Base, S):
        log("getattr", cls.__getattribute__ is object.__getattribute__, hasattr(cls, "fields"))
        log("static", inspect.getattr_static(cls, "fields", None))


def test_messages_of_mixins(ma, log):
    Plain = subclass()

    class Abstract(metaclass=abc.ABCMeta):  # noqa: B024
        pass

    class Pairs(list):
        def __iter__(self):
            log("asked")
            return super().__iter__()

    class Meta(type(ma.Schema)):
        error_messages = property(lambda cls: {"type": f"{cls.__name__} has a metaclass"})

    class S(Plain, Abstract, ma.Schema):
        a = ma.fields.Integer()

    class T(Plain, ma.Schema, metaclass=Meta):
        a = ma.fields.Integer()

    for cls in (S, T, S):
        for mixin in (Plain, Abstract):
            for _ in range(4):
                log("messages", cls().error_messages)
                log("error", cls().validate([3]))
            mixin.error_messages = {"type": f"no {mixin.__name__}"}
    for Plain.error_messages in (Pairs([("type", "of pairs")]), 5, {}):
        for _ in range(30):
            log.attempt(lambda: S() and S().validate([3]))


@pytest.mark.parametrize("name", ["data_key", "attribute"])
def test_names_that_are_more_than_text(ma, log, name):
    class Said(str):
        def __hash__(self):
            log("hash", str(self))
            return hash(self.lower())

        def __eq__(self, other):
            log("eq", str(self), str(other))
            return self.lower() == other.lower()

        def __len__(self):
            log("len", str(self))
            return str.__len__(self)

    # The last two collide.
    for keys in (("key", "other"), ("ks", "KS")):
        fields = {key: ma.fields.Raw(**{name: Said(key)}) for key in keys}
        cls = ma.Schema.from_dict({**fields, "a": ma.fields.Raw()})
        for _ in range(4):
            log("made")
            schema = log.attempt(cls)
            if not isinstance(schema, Exception):
                log("dumped", schema.dump({"a": 1, "key": 2}))
                log("loaded", schema.load({"key": 3, "a": 4, "more": 5}, unknown="include"))


def test_names_that_are_no_collection(ma, log):
    S = ma.Schema.from_dict({"a": ma.fields.Integer(), "b": ma.fields.Integer()})
    for options in (
        {},
        {"only": "a"},
        {"exclude": "a"},
        {"only": {"a": 1}},
        {"exclude": None},
        {"only": ("n",)},
    ) * 3:
        log.attempt(lambda options=options: S(**options).dump({"a": 1}))
        schema = S(only=("b",))
        log.attempt(schema.__init__, **options)
        log("fields", list(schema.fields), sorted(vars(schema)))
        log.attempt(schema.dump, {"a": 1})


@pytest.mark.parametrize("look_first", [False, True])
@pytest.mark.parametrize("class_name", ["S", "Größe", "S" * 50, "S" * 51, "S" * 130])
def test_an_attribute_that_is_missing(ma, log, class_name, look_first):
    def broken(self):
        return self.of_the_property

    cls = type(
        class_name, (ma.Schema,), {"f": ma.fields.Raw(), "broken": property(broken), "none": None}
    )
    for _ in range(3):
        cls()
    schema = cls()
    if look_first:
        log("look", list(schema.fields))
    schema.mine = 1
    log("there", schema.mine, schema.many, hasattr(schema, "missing"), hasattr(schema, "fields"))
    log("otherwise", schema.none, getattr(schema, "größe", 2), getattr(schema, "broken", 3))
    for name in ("missing", "größe", "broken", "f"):
        try:
            getattr(schema, name)
        except AttributeError as error:
            lines = traceback.extract_tb(error.__traceback__)
            log("error", str(error), error.name, error.obj is schema, [line.name for line in lines])


@pytest.mark.parametrize("data", [1, "x", None])
@pytest.mark.parametrize("method", ["_validated", "_format_num", "make_error", "_validate"])
def test_whose_field_runs_code_of_its_own(ma, log, method, data):
    fields = ma.fields

    def own(self, *args, **options):
        log(method, self.name, [self.root is each for each in schemas])
        return getattr(fields.Integer, method)(self, *args, **options)

    Own = type("Own", (fields.Integer,), {method: own})
    members = {"a": Own(), "l": fields.List(Own()), "d": fields.Dict(values=Own())}
    cls = ma.Schema.from_dict({**members, "t": fields.Tuple([Own()])})
    schemas = [cls() for _ in range(4)]
    for schema in schemas:
        for items in ([data], (data,), iter([data])):
            given = {"a": data, "l": items, "d": {"k": data}, "t": items}
            log.attempt(schema.dump, given)
            log.attempt(schema.load, given)
