"""Tests with doubles, as the authors of an application write them.

``test_pytest_plugin.py`` runs them on the real marshmallow and on ours; the results are the same.
"""

import datetime as dt
import inspect
from unittest import mock

import pytest
from marshmallow import Schema, ValidationError, fields


class UserSchema(Schema):
    name = fields.String(required=True)
    born = fields.Date()


def test_plain_patch_and_patch_by_name():
    with mock.patch.object(UserSchema, "dump", return_value={"x": 1}) as dump:
        assert UserSchema().dump({"name": "Ada"}) == {"x": 1}
    dump.assert_called_once_with({"name": "Ada"})
    with mock.patch(f"{__name__}.UserSchema.load", return_value=3):
        assert UserSchema().load({}) == 3


def test_autospec_keeps_self():
    with mock.patch.object(UserSchema, "dump", autospec=True) as dump:
        schema = UserSchema()
        schema.dump({"name": "Ada"}, many=False)
    dump.assert_called_once_with(schema, {"name": "Ada"}, many=False)


def test_autospec_with_the_real_one_behind():
    real = UserSchema.dump
    with mock.patch.object(UserSchema, "dump", autospec=True, side_effect=real) as dump:
        assert UserSchema().dump({"name": "Ada"}) == {"name": "Ada"}
    assert dump.call_count == 1


def test_autospec_of_a_base_class():
    with mock.patch.object(Schema, "load", autospec=True, return_value=3) as load:
        schema = UserSchema()
        assert schema.load({}) == 3
    load.assert_called_once_with(schema, {})


def test_autospec_checks_arguments():
    refused = pytest.raises(TypeError, match="nonsense")
    with mock.patch.object(UserSchema, "load", autospec=True), refused:
        UserSchema().load({}, nonsense=True)


def test_create_autospec():
    double = mock.create_autospec(UserSchema, instance=True)
    with pytest.raises(TypeError):
        double.load()
    double.load.return_value = 1
    assert double.load({}) == 1
    with pytest.raises(TypeError):
        mock.create_autospec(UserSchema.dump)()


def test_autospec_of_a_field():
    with mock.patch.object(fields.Date, "_serialize", autospec=True, return_value="day"):
        assert UserSchema().dump({"born": dt.date(2000, 1, 1)}) == {"born": "day"}


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


def test_mocker_patch_with_autospec(mocker):
    dump = mocker.patch.object(UserSchema, "dump", autospec=True, return_value={})
    assert UserSchema().dump(1) == {}
    assert dump.call_args.args[1] == 1


def test_signature():
    assert list(inspect.signature(UserSchema.load).parameters)[:2] == ["self", "data"]
