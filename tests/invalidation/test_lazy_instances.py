"""Classes that change between an instance's construction and the first look into it."""

import copy
import types
from unittest import mock

import pytest

import althaia
from althaia import marshmallow
from tests.invalidation.test_instances import CLASS_CHANGES, DATA, make_class
from tests.invalidation.usage import use


def _spy(ma, log, cls, owner, name):
    """Replace a field's method by one that logs whose field it is called for."""
    target = getattr(ma.fields, owner)
    original = getattr(target, name)

    def method(self, *args, **kwargs):
        of_schema = type(self.root) is cls
        log(name, self.name, of_schema and getattr(self.root, "number", None))
        return original(self, *args, **kwargs)

    log.patch(target, name, method)


def _helper(ma, log, module, name):
    owner = getattr(ma, module)
    log.patch(owner, name, log.spy(name, getattr(owner, name)))


def _resolved(schema):
    """Which of the nested fields have their schema."""
    fields = vars(schema)["declared_fields"]
    nested = [fields["c"], fields["l"].inner, fields["t"].tuple_fields[-1]]
    return [getattr(field, "_schema", None) is not None for field in nested]


def _spied_helpers(ma, log):
    """Another module of helpers, whose ``callable_or_raise`` is noted."""
    helper = ma.utils.callable_or_raise
    return types.SimpleNamespace(
        **{**vars(ma.utils), "callable_or_raise": log.spy("callable_or_raise", helper)}
    )


def _twin(field):
    twin = type(field).__new__(type(field))
    vars(twin).update(vars(field), data_key="twin")
    return twin


SPIED = [
    *("Integer._bind_to_schema", "List._bind_to_schema", "Method._bind_to_schema"),
    *("Field.__deepcopy__", "Integer._serialize", "Integer._deserialize", "Nested._serialize"),
    *("Nested._deserialize", "Method._serialize", "Field.deserialize", "Field.make_error"),
]

CHANGES = [
    # docs/differences.md has other bases.
    *(change for change in CLASS_CHANGES if "__bases__" not in change),
    "del cls.get_m",
    "cls.get_m = lambda self, obj: 'late'",
    "cls.get_m = staticmethod(lambda obj: 'late')",
    "cls.fields = property(lambda self: {})",
    "cls.declared_fields = property(lambda self: {})",
    "cls.many = property(lambda self: False)",
    "cls.only = ('a',)",
    "cls.__setattr__ = lambda self, name, value: None",
    "cls._init_fields = lambda self: None",
    "cls.__init__ = lambda self: None",
    "log.patch(ma.fields.Integer, 'late', property(lambda field: log('asked')))",
    (
        "log.patch(ma.fields.Field, '__setattr__', lambda field, name, value: log('set', name) or "
        "object.__setattr__(field, name, value))"
    ),
    (
        "log.patch(ma.fields.Field, '__getattribute__', lambda field, name: "
        "object.__getattribute__(field, name))"
    ),
    "cls._declared_fields['l'].inner.required = True",
    "cls._declared_fields['t'].tuple_fields.pop()",
    "log.patch(ma.fields.Field, '__copy__', _twin)",
    "_helper(ma, log, 'schema', 'is_collection')",
    "_helper(ma, log, 'utils', 'callable_or_raise')",
    "_helper(ma, log, 'utils', 'is_collection')",
    "log.patch(ma.fields, 'utils', _spied_helpers(ma, log))",
    *(f"_spy(ma, log, cls, '{owner}', '{name}')" for owner, name in (s.split(".") for s in SPIED)),
]


@pytest.mark.parametrize("first", ["look", "dump", "load"])
@pytest.mark.parametrize("moment", ["before use", "after use"])
@pytest.mark.parametrize("change", CHANGES)
def test_class_changes_before_anybody_looks(ma, log, change, moment, first):
    cls = make_class(ma)
    schemas = [cls(), cls(), cls(), cls(only=("a", "c.x"))]
    if moment == "after use":
        for schema in schemas:
            use(log, schema, DATA)
    for number, schema in enumerate(schemas):
        schema.number = number
    exec(change, {**globals(), "ma": ma, "log": log, "cls": cls})
    for schema in schemas:
        if first == "look":
            log.attempt(lambda lazy=schema: list(lazy.fields))
        elif first == "load":
            log.attempt(schema.load, DATA)
        use(log, schema, DATA)
        log.attempt(_resolved, schema)
        log("vars", sorted(vars(schema)))
        for name, field in vars(schema)["declared_fields"].items():
            log(name, sorted(field.__dict__), field.__dict__["parent"] is schema)
    log.attempt(lambda: _resolved(cls()))


@pytest.mark.parametrize("made", ["before", "after"])
@pytest.mark.parametrize("look", ["fields", "declared_fields", "only", "__dict__"])
def test_class_assigned_before_anybody_looks(ma, log, look, made):
    cls = make_class(ma)
    schemas = []
    for what in ("after", "before") if made == "after" else ("before", "after"):
        if what == "after":
            schemas = [cls(), cls(), cls()]
        else:
            other = type("Other", (type("Middle", (cls,), {}),), {"late": ma.fields.Integer()})
    for schema in schemas:
        schema.__class__ = other
        log(look, sorted(getattr(schema, look) or ()))
        log("bound", [field.parent is schema for field in schema.fields.values()])
        use(log, schema, DATA)
        use(log, other(), DATA)


def test_copies_and_annotations_are_no_change_of_the_set_of_names():
    schema = marshmallow.Schema.from_dict({"a": marshmallow.fields.Integer()})
    copy.deepcopy(schema(only=("a",)))
    assert marshmallow.schema.OrderedSet.__annotations__ == {}
    for _ in range(3):
        schema().dump({})
    found = althaia.explain(schema()).as_dict()
    assert "OrderedSet" not in str(found)


@pytest.mark.parametrize("owner", ["the class", "a base", "Schema"])
def test_init_is_replaced_for_a_while(ma, log, owner):
    Base = type("Base", (ma.Schema,), {"a": ma.fields.Integer()})
    S = type("S", (Base,), {"b": ma.fields.Integer()})
    Sub = type("Sub", (S,), {})

    class Own(Base):
        def __init__(self):
            log("own __init__", type(self).__name__)
            super().__init__(only=("a",))

    original = ma.Schema.__init__

    def spied(self, *args, **options):
        log("__init__", type(self).__name__, args, sorted(options))
        original(self, *args, **options)

    def make():
        later = type("Later", (S,), {})
        for cls in (S, Sub, later, later, Own):
            log.attempt(lambda cls=cls: cls().dump({"a": "1", "b": "2"}))
        log.attempt(lambda: list(S(many=True, only=("b",)).load([{"b": 1}])))
        log.attempt(lambda: S(1))
        log.attempt(lambda: S(wrong=1))

    for _ in range(3):
        make()
    with mock.patch.object(
        {"the class": S, "a base": Base, "Schema": ma.Schema}[owner], "__init__", spied
    ):
        make()
    for _ in range(3):
        make()
    S.__bases__ = (Own,)
    for _ in range(3):
        make()
