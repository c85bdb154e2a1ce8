"""A field's class changes after its schema was used: the class itself, a base, a mixin."""

import datetime as dt
import enum
from unittest import mock

import pytest

from benchmarks.cases.kinds import KINDS
from tests.conformance.material import Plain, schema_of
from tests.invalidation.usage import settle, use

MOMENT = dt.datetime(2024, 2, 29, 12, 30, 5, 250)

METHODS = {
    "serialize": (
        "lambda self, attr, obj, accessor=None, **kwargs: log('serialize', attr, obj, kwargs) or "
        "accessor(obj, 'g', 0)"
    ),
    "get_value": (
        "lambda self, obj, attr, accessor=None, default=None: log('get_value', attr, obj) or "
        "accessor(obj, 'g', 0)"
    ),
    "_serialize": (
        "lambda self, value, attr, obj, **kwargs: log('_serialize', value, attr, obj, kwargs) or "
        "'mine'"
    ),
}
NUMBER_METHODS = {
    "_format_num": "lambda self, value: log('_format_num', value) or 5",
    "_to_string": "lambda self, value: log('_to_string', value) or 'text'",
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", KINDS)
def test_upstreams_own_class_patched_and_restored(ma, log, kind, method):
    make, value, _ = KINDS[kind]
    field = make(ma.fields)
    schema = schema_of(ma, {"f": field, "h": ma.fields.Raw()})
    data = {"f": value, "g": 2, "h": 3}
    settle(log, schema, data, Plain(**data))
    with mock.patch.object(type(field), method, eval(METHODS[method], {"log": log})):
        use(log, schema, data, Plain(**data))
    use(log, schema, data, Plain(**data))


@pytest.mark.parametrize("base", ["Field", "Number", "String", "_TemporalField", "DateTime"])
@pytest.mark.parametrize("method", METHODS)
def test_upstreams_base_class_patched(ma, log, base, method):
    fields = ma.fields
    schema = schema_of(
        ma, {"i": fields.Integer(), "e": fields.Email(), "d": fields.AwareDateTime()}
    )
    data = {"i": 1, "e": "x@y.z", "d": MOMENT, "g": 2}
    settle(log, schema, data)
    with mock.patch.object(getattr(fields, base), method, eval(METHODS[method], {"log": log})):
        use(log, schema, data)
    use(log, schema, data)


@pytest.mark.parametrize("method", NUMBER_METHODS)
@pytest.mark.parametrize("owner", ["own", "Integer", "Number"])
def test_number_methods(ma, log, owner, method):
    Own = type("Own", (ma.fields.Integer,), {})
    schema = schema_of(ma, {"f": Own(), "s": Own(as_string=True)})
    settle(log, schema, {"f": 1, "s": 2})
    target = Own if owner == "own" else getattr(ma.fields, owner)
    log.patch(target, method, eval(NUMBER_METHODS[method], {"log": log}))
    use(log, schema, {"f": 1, "s": 2})


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("owner", ["class", "base", "mixin", "mixin behind"])
def test_users_class_changed(ma, log, owner, method):
    Mixin, Behind = type("Mixin", (), {}), type("Behind", (), {})
    Base = type("Base", (Mixin, ma.fields.Integer), {})
    Own = type("Own", (Base, Behind), {})
    target = {"class": Own, "base": Base, "mixin": Mixin, "mixin behind": Behind}[owner]
    schema = schema_of(ma, {"f": Own(), "h": ma.fields.Raw()})
    data = {"f": 1, "g": 2, "h": 3}
    settle(log, schema, data)
    setattr(target, method, eval(METHODS[method], {"log": log}))
    use(log, schema, data)
    delattr(target, method)
    use(log, schema, data)


@pytest.mark.parametrize("method", METHODS)
def test_bases_replaced(ma, log, method):
    First, Second = (type(name, (ma.fields.Integer,), {}) for name in ("First", "Second"))
    Own = type("Own", (First,), {})
    setattr(Second, method, eval(METHODS[method], {"log": log}))
    schema = schema_of(ma, {"f": Own()})
    settle(log, schema, {"f": 1, "g": 2})
    Own.__bases__ = (Second,)
    use(log, schema, {"f": 1, "g": 2})


def test_class_of_the_field_assigned(ma, log):
    class Own(ma.fields.Integer):
        def _serialize(self, value, attr, obj, **kwargs):
            log("own", value)
            return -1

    schema = schema_of(ma, {"f": ma.fields.Integer(), "g": ma.fields.Raw()})
    settle(log, schema, {"f": 1, "g": 2})
    for cls in (Own, ma.fields.String, ma.fields.Float):
        schema.fields["f"].__class__ = cls
        use(log, schema, {"f": 1, "g": 2})


CLASS_ATTRIBUTES = {
    "_CHECK_ATTRIBUTE": [False, 0, None],
    "num_type": [float, str, lambda value: "called"],
    "data_key": ["ignored"],
    "attribute": ["ignored"],
    "dump_default": ["ignored"],
    "as_string": [True],
}


@pytest.mark.parametrize("name", CLASS_ATTRIBUTES)
@pytest.mark.parametrize("owner", ["own", "Integer", "Field"])
def test_class_attributes(ma, log, owner, name):
    Own = type("Own", (ma.fields.Integer,), {})
    schema = schema_of(ma, {"f": Own(), "g": ma.fields.Integer()})
    settle(log, schema, {"f": "1", "g": "2"})
    target = Own if owner == "own" else getattr(ma.fields, owner)
    for value in CLASS_ATTRIBUTES[name]:
        with mock.patch.object(target, name, value, create=True):
            use(log, schema, {"f": "1", "g": "2"})
    use(log, schema, {"f": "1", "g": "2"})


@pytest.mark.parametrize("name", ["data_key", "attribute", "dump_default", "_CHECK_ATTRIBUTE"])
@pytest.mark.parametrize("late", [False, True])
def test_properties_that_compute(ma, log, name, late):
    answers = iter("abcdefghijklmnopqrstuvwxyz" * 20)

    Own = type("Own", (ma.fields.Raw,), {})
    computed = property(lambda self: log("asked", name) or next(answers), lambda self, value: None)
    if not late:
        setattr(Own, name, computed)
    schema = schema_of(ma, {"f": Own(), "g": ma.fields.Integer()})
    data = {"f": 1, "g": 2, "a": 3, "b": 4, "c": 5}
    # Built now: a schema that nobody has looked at reads these when it is first looked into.
    log("fields", list(schema.fields))
    # A field that computes its key leaves the schema without a plan.
    (use if name == "data_key" and not late else settle)(log, schema, data, {})
    setattr(Own, name, computed)
    use(log, schema, data, {})
    delattr(Own, name)
    use(log, schema, data, {})


@pytest.mark.parametrize("hook", ["__getattribute__", "__getattr__"])
def test_attribute_access_taken_over(ma, log, hook):
    Own = type("Own", (ma.fields.Integer,), {})
    schema = schema_of(ma, {"f": Own(), "g": ma.fields.Integer()})
    settle(log, schema, {"f": 1, "g": 2, "other": 3})

    def answer(self, name):
        if name == "attribute":
            return "other"
        if hook == "__getattr__":
            raise AttributeError(name)
        return object.__getattribute__(self, name)

    setattr(Own, hook, answer)
    use(log, schema, {"f": 1, "g": 2, "other": 3})
    vars(schema.fields["f"]).pop("attribute")
    use(log, schema, {"f": 1, "g": 2, "other": 3})
    delattr(Own, hook)
    use(log, schema, {"f": 1, "g": 2, "other": 3})


def test_class_with_slots_for_its_attributes(ma, log):
    Own = type("Own", (ma.fields.Integer,), {"__slots__": ("data_key",)})
    schema = schema_of(ma, {"f": Own(data_key="k"), "g": ma.fields.Raw()})
    use(log, schema, {"f": 1, "g": 2})
    schema.fields["f"].data_key = "other"
    use(log, schema, {"f": 1, "g": 2})


def test_a_change_upstream_made_to_the_class_of_an_enum(ma, log):
    Colour = enum.Enum("Colour", {"RED": 1})
    schema = schema_of(
        ma, {"f": ma.fields.Enum(Colour), "g": ma.fields.Enum(Colour, by_value=True)}
    )
    data = {"f": Colour.RED, "g": Colour.RED}
    settle(log, schema, data)
    type.__setattr__(Colour, "name", property(lambda self: "renamed"))
    use(log, schema, data)
    type.__setattr__(Colour, "value", property(lambda self: 99))
    use(log, schema, data)


def test_schema_property_of_nested_replaced(ma, log):
    other = schema_of(ma, {"b": ma.fields.Raw()})

    Own = type("Own", (ma.fields.Nested,), {})
    schema = schema_of(ma, {"f": Own(ma.Schema.from_dict({"a": ma.fields.Raw()}))})
    settle(log, schema, {"f": {"a": 1, "b": 2}})
    # docs/differences.md says how often the key is asked.
    Own.schema = property(lambda self: other)
    use(log, schema, {"f": {"a": 1, "b": 2}})
