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


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", KINDS)
def test_upstreams_class_and_its_bases_are_patched_and_restored(ma, log, kind, method):
    make, value, _ = KINDS[kind]
    field = make(ma.fields)
    schema = schema_of(ma, {"f": field, "h": ma.fields.Raw()})
    data = {"f": value, "g": 2, "h": 3}
    settle(log, schema, data, Plain(**data))
    for cls in type(field).__mro__[: type(field).__mro__.index(ma.fields.Field) + 1]:
        new = eval(METHODS[method], {"log": log})
        with mock.patch.object(cls, method, new, create=True):
            use(log, schema, data, Plain(**data))
        use(log, schema, data, Plain(**data))


@pytest.mark.parametrize("method", METHODS)
def test_bases_replaced(ma, log, method):
    First, Second = (type(name, (ma.fields.Integer,), {}) for name in ("First", "Second"))
    Own = type("Own", (First,), {})
    setattr(Second, method, eval(METHODS[method], {"log": log}))
    schema = schema_of(ma, {"f": Own()})
    settle(log, schema, {"f": 1, "g": 2})
    Own.__bases__ = (Second,)
    use(log, schema, {"f": 1, "g": 2})


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
