"""Tests with doubles, as the authors of an application write them.

``test_pytest_plugin.py`` runs them on the real marshmallow and on ours; the results are the same.
"""

from unittest import mock

import pytest
from marshmallow import Schema, ValidationError, fields


class UserSchema(Schema):
    name = fields.String(required=True)


def test_a_patch_by_name():
    with mock.patch(f"{__name__}.UserSchema.load", return_value=3) as load:
        assert UserSchema().load({}) == 3
    load.assert_called_once_with({})


@pytest.mark.parametrize("owner", [UserSchema, Schema])
@pytest.mark.parametrize(
    "double", [{"return_value": {"name": "Ada"}}, {"side_effect": Schema.dump}]
)
def test_autospec_keeps_self_and_checks_arguments(mocker, owner, double):
    dump = mocker.patch.object(owner, "dump", autospec=True, **double)
    schema = UserSchema()
    assert schema.dump({"name": "Ada"}, many=False) == {"name": "Ada"}
    dump.assert_called_once_with(schema, {"name": "Ada"}, many=False)
    with pytest.raises(TypeError, match="nonsense"):
        schema.dump({}, nonsense=True)


def test_create_autospec():
    double = mock.create_autospec(UserSchema, instance=True)
    with pytest.raises(TypeError):
        double.load()
    double.load.return_value = 1
    assert double.load({}) == 1
    with pytest.raises(TypeError):
        mock.create_autospec(UserSchema.dump)()


def test_spies(mocker):
    spy = mocker.spy(UserSchema, "load")
    schema = UserSchema()
    assert schema.load({"name": "Ada"}) == {"name": "Ada"}
    spy.assert_called_once_with(schema, {"name": "Ada"})
    assert spy.spy_return == {"name": "Ada"}
    with pytest.raises(ValidationError):
        schema.load({})
    assert isinstance(spy.spy_exception, ValidationError)
    spy = mocker.spy(schema, "dump")
    assert schema.dump({"name": "Ada"}) == {"name": "Ada"}
    spy.assert_called_once_with({"name": "Ada"})
