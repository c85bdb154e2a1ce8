"""Ordinary tests of a small web application, as its authors would write them.

``test_pytest_plugin.py`` runs them on the real marshmallow and on ours; the results are the same.
"""

import datetime as dt
import inspect
import pickle
from types import SimpleNamespace
from unittest import mock

import pytest
from flask import Flask, jsonify, request
from marshmallow import Schema, ValidationError, fields, post_load, validate, validates


class UserSchema(Schema):
    id = fields.Integer(dump_only=True)
    name = fields.String(required=True, validate=validate.Length(min=2))
    email = fields.Email()
    born = fields.Date()

    @validates("name")
    def no_root(self, value, **kwargs):
        if value == "root":
            raise ValidationError("reserved")

    @post_load
    def make(self, data, **kwargs):
        return SimpleNamespace(**data)


@pytest.fixture
def app():
    app = Flask("shop")

    @app.get("/users")
    def users():
        return jsonify(UserSchema(many=True).dump([{"id": 1, "name": "Ada"}]))

    @app.post("/users")
    def create():
        try:
            user = UserSchema().load(request.get_json())
        except ValidationError as error:
            return jsonify(error.messages), 422
        return jsonify(UserSchema().dump(user)), 201

    return app


@pytest.fixture
def client(app):
    return app.test_client()


def test_list(client):
    assert client.get("/users").json == [{"id": 1, "name": "Ada"}]


def test_create(client):
    answer = client.post("/users", json={"name": "Ada", "born": "1815-12-10"})
    assert answer.status_code == 201
    assert answer.json == {"name": "Ada", "born": "1815-12-10"}


def test_create_invalid(client):
    answer = client.post("/users", json={"name": "A", "email": "no"})
    assert answer.status_code == 422
    assert set(answer.json) == {"name", "email"}


def test_unknown_field():
    with pytest.raises(ValidationError, match="Unknown field"):
        UserSchema().load({"name": "Ada", "age": 3})


def test_validates_method():
    with pytest.raises(ValidationError) as caught:
        UserSchema().load({"name": "root"})
    assert caught.value.messages == {"name": ["reserved"]}


def test_plain_patch_of_dump():
    with mock.patch.object(UserSchema, "dump", return_value={"x": 1}) as dump:
        assert UserSchema().dump({"name": "Ada"}) == {"x": 1}
    dump.assert_called_once_with({"name": "Ada"})


def test_patch_by_name(client):
    with mock.patch(f"{__name__}.UserSchema.load", side_effect=ValidationError("no")):
        assert client.post("/users", json={}).status_code == 422


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
    with (
        mock.patch.object(UserSchema, "load", autospec=True),
        pytest.raises(TypeError, match="nonsense"),
    ):
        UserSchema().load({}, nonsense=True)


def test_create_autospec_of_an_instance():
    double = mock.create_autospec(UserSchema, instance=True)
    with pytest.raises(TypeError):
        double.load()
    double.load.return_value = 1
    assert double.load({}) == 1


def test_create_autospec_of_a_function():
    double = mock.create_autospec(UserSchema.dump)
    with pytest.raises(TypeError):
        double()


def test_autospec_of_a_field():
    with mock.patch.object(fields.Date, "_serialize", autospec=True, return_value="day"):
        assert UserSchema().dump({"born": dt.date(2000, 1, 1)}) == {"born": "day"}


def test_spy_on_a_class(mocker):
    spy = mocker.spy(UserSchema, "load")
    schema = UserSchema()
    assert schema.load({"name": "Ada"}).name == "Ada"
    spy.assert_called_once_with(schema, {"name": "Ada"})
    assert spy.spy_return.name == "Ada"


def test_spy_on_an_instance(mocker):
    schema = UserSchema()
    spy = mocker.spy(schema, "dump")
    assert schema.dump({"name": "Ada"}) == {"name": "Ada"}
    spy.assert_called_once_with({"name": "Ada"})


def test_spy_sees_the_exception(mocker):
    spy = mocker.spy(UserSchema, "load")
    with pytest.raises(ValidationError):
        UserSchema().load({})
    assert isinstance(spy.spy_exception, ValidationError)


def test_mocker_patch_with_autospec(mocker):
    dump = mocker.patch.object(UserSchema, "dump", autospec=True, return_value={})
    assert UserSchema().dump(1) == {}
    assert dump.call_args.args[1] == 1


def test_monkeypatched_method(monkeypatch):
    monkeypatch.setattr(UserSchema, "dump", lambda self, obj, **kwargs: {"patched": True})
    assert UserSchema().dump({}) == {"patched": True}


def test_signature():
    assert list(inspect.signature(UserSchema.load).parameters)[:2] == ["self", "data"]


def test_errors_travel():
    with pytest.raises(ValidationError) as caught:
        UserSchema().load({})
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.messages == caught.value.messages
