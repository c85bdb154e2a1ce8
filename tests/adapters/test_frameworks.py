"""Frameworks on top of Flask, and connexion: one line, and their responses keep their bytes."""

import asyncio
import datetime as dt
import decimal
import logging
import uuid
from unittest import mock

import pytest

flask = pytest.importorskip("flask")

import marshmallow  # noqa: E402

from althaia import json as althaia_json  # noqa: E402
from althaia.adapters.flask import use  # noqa: E402
from tests.adapters.conftest import VALUES  # noqa: E402


class PetSchema(marshmallow.Schema):
    id = marshmallow.fields.Integer()
    name = marshmallow.fields.String(required=True)
    weight = marshmallow.fields.Float()


PETS = [{"name": f"Müsli {i} <&>", "id": i, "weight": i / 3} for i in range(20)]


@pytest.fixture
def written():
    with mock.patch.object(althaia_json, "dumps", wraps=althaia_json.dumps) as dumps:
        yield dumps


def compare(make, paths, written):
    """Both answer the same, and our encoder writes the answers of the second application."""
    plain, ours = make(), use(make())
    for path in paths:
        expected = plain.test_client().get(path)
        assert expected.status_code == 200, expected.get_data()
        written.reset_mock()
        answer = ours.test_client().get(path)
        assert answer.get_data() == expected.get_data()
        assert answer.headers == expected.headers
        assert written.called, f"{path} was not written by althaia"


def test_flask_smorest(written):
    smorest = pytest.importorskip("flask_smorest")

    def make():
        app = flask.Flask("shop")
        app.config.update(API_TITLE="t", API_VERSION="1", OPENAPI_VERSION="3.0.3")
        blueprint = smorest.Blueprint("pets", "pets")

        @blueprint.route("/pets")
        @blueprint.response(200, PetSchema(many=True))
        def pets():
            return PETS

        smorest.Api(app).register_blueprint(blueprint)
        return app

    compare(make, ["/pets"], written)


def test_apiflask(written):
    apiflask = pytest.importorskip("apiflask")

    def make():
        app = apiflask.APIFlask("shop")

        @app.get("/pets")
        @app.output(PetSchema(many=True))
        def pets():
            return PETS

        return app

    compare(make, ["/pets", "/openapi.json"], written)


def test_flask_marshmallow(written):
    flask_marshmallow = pytest.importorskip("flask_marshmallow")

    def make():
        app = flask.Flask("shop")
        extension = flask_marshmallow.Marshmallow(app)

        class Pet(extension.Schema):
            name = marshmallow.fields.String()
            link = extension.URLFor("pets")

        app.add_url_rule("/pets", "pets", lambda: Pet(many=True).jsonify(PETS))
        return app

    compare(make, ["/pets"], written)


def test_flask_appbuilder(written):
    api = pytest.importorskip("flask_appbuilder.api")
    from flask_appbuilder import AppBuilder
    from flask_appbuilder.utils.legacy import get_sqla_class

    class PetApi(api.BaseApi):
        resource_name = "pets"

        @api.expose("/all")
        def all(self):
            return self.response(200, result=PetSchema(many=True).dump(PETS), count=len(PETS))

    made = []

    def make():
        app = flask.Flask("shop")
        app.config.update(
            SECRET_KEY="not a secret", SQLALCHEMY_DATABASE_URI="sqlite://", WTF_CSRF_ENABLED=False
        )
        database = get_sqla_class()()
        with app.app_context():
            database.init_app(app)
            builder = AppBuilder(app, database.session)
            builder.add_api(PetApi)
        made.append((app, database))
        return app

    logging.disable(logging.CRITICAL)
    try:
        compare(make, ["/api/v1/pets/all"], written)
    finally:
        logging.disable(logging.NOTSET)
        # From 3.13 on a connection that is left open warns in the test that runs when it is freed.
        for app, database in made:
            with app.app_context():
                database.session.remove()
                database.engine.dispose()


PATH = {
    "operationId": "tests.adapters.test_frameworks.connexion_pets",
    "responses": {"200": {"description": "all", "content": {"application/json": {}}}},
}
INFO = {"title": "t", "version": "1"}
SPECIFICATION = {"openapi": "3.0.0", "info": INFO, "paths": {"/pets": {"get": PATH}}}


def connexion_pets():
    return [
        *PetSchema(many=True).dump(PETS),
        {"at": dt.datetime(2024, 1, 2), "of": uuid.UUID(int=3), "for": decimal.Decimal("1.5")},
    ]


@pytest.mark.parametrize("kind", ["FlaskApp", "AsyncApp"])
def test_connexion(kind, written):
    connexion = pytest.importorskip("connexion")
    from althaia.adapters.connexion import Jsonifier

    def answer(jsonifier=None):
        app = getattr(connexion, kind)(__name__, **({"jsonifier": jsonifier} if jsonifier else {}))
        if jsonifier and kind == "FlaskApp":
            use(app.app)
        app.add_api(SPECIFICATION)
        with app.test_client() as client:
            response = client.get("/pets")
        return response.status_code, response.content, response.headers["content-type"]

    expected = answer()
    written.reset_mock()
    # Return the class that connexion itself takes for each kind of application.
    assert (
        answer(Jsonifier(flask.json, indent=2) if kind == "FlaskApp" else Jsonifier()) == expected
    )
    assert expected[0] == 200
    assert written.called


def test_quart():
    """Quart's provider is Flask's; the same function serves it."""
    quart = pytest.importorskip("quart")
    from althaia.adapters.quart import JSONProvider, use as use_in_quart

    async def bodies(app):
        async with app.app_context():
            return [await quart.jsonify(value).get_data() for value in VALUES]

    plain, ours = quart.Quart("shop"), use_in_quart(quart.Quart("shop"))
    assert isinstance(ours.json, JSONProvider)
    assert asyncio.run(bodies(ours)) == asyncio.run(bodies(plain))
