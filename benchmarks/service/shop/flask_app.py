"""The shop as a Flask application with flask-smorest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from flask import Flask, Response, current_app, g, jsonify
from flask_smorest import Api, Blueprint, abort
from marshmallow import Schema, fields, validate
from sqlalchemy.orm import Session

from benchmarks.service.shop import queries
from benchmarks.service.shop.schemas import (
    CountSchema,
    MovementSchema,
    NewOrderSchema,
    OrderSchema,
)
from benchmarks.service.shop.settings import Settings

blueprint = Blueprint("shop", __name__)

COMPACT: dict[str, Any] = {"sort_keys": True, "separators": (",", ":")}
"""How Flask's own provider writes JSON."""


class PageSchema(Schema):
    limit = fields.Integer(load_default=50, validate=validate.Range(min=1, max=1_000_000))


def session() -> Session:
    """The session of this request; it stays open until the response is written."""
    if "session" not in g:
        g.session = Session(current_app.extensions["shop_engine"], expire_on_commit=False)
    found: Session = g.session
    return found


def close_session(_: BaseException | None) -> None:
    if opened := g.pop("session", None):
        opened.close()


@blueprint.get("/orders")
@blueprint.arguments(PageSchema, location="query")
@blueprint.response(200, OrderSchema(many=True))
def orders(page: dict[str, int]) -> Sequence[Any]:
    return queries.orders(session(), page["limit"])


@blueprint.get("/orders/<int:number>")
@blueprint.response(200, OrderSchema)
def order(number: int) -> Any:
    return queries.order(session(), number) or abort(404, message="There is no such order.")


@blueprint.post("/orders")
@blueprint.arguments(NewOrderSchema)
@blueprint.response(201, OrderSchema)
def add_order(new: dict[str, Any]) -> Any:
    numbers = queries.add_orders(session(), [new])
    return queries.order(session(), numbers[0])


@blueprint.post("/orders/bulk")
@blueprint.arguments(NewOrderSchema(many=True))
@blueprint.response(201, CountSchema)
def add_orders(new: list[dict[str, Any]]) -> dict[str, Any]:
    numbers = queries.add_orders(session(), new)
    return {"created": len(numbers), "numbers": numbers}


@blueprint.get("/movements")
@blueprint.arguments(PageSchema, location="query")
@blueprint.response(200, MovementSchema(many=True))
def movements(page: dict[str, int]) -> Sequence[Any]:
    return queries.movements(session(), page["limit"])


@blueprint.get("/movements/rows")
@blueprint.arguments(PageSchema, location="query")
@blueprint.response(200, MovementSchema(many=True))
def movement_rows(page: dict[str, int]) -> Sequence[Any]:
    return queries.movement_rows(session(), page["limit"])


@blueprint.get("/movements/text")
@blueprint.arguments(PageSchema, location="query")
def movement_text(page: dict[str, int]) -> Response:
    """The same text, written by the schema instead of by ``jsonify``."""
    rows = queries.movement_rows(session(), page["limit"])
    text = MovementSchema().dumps(rows, many=True, **COMPACT)
    return Response(text + "\n", content_type="application/json")


@blueprint.get("/export")
@blueprint.arguments(PageSchema, location="query")
def export(page: dict[str, int]) -> Response:
    """Everything at once, as the frameworks do it."""
    rows = queries.movement_rows(session(), page["limit"])
    return jsonify(MovementSchema().dump(rows, many=True))


@blueprint.get("/export/text")
@blueprint.arguments(PageSchema, location="query")
def export_text(page: dict[str, int]) -> Response:
    """Everything at once, as ``dumps`` writes it."""
    rows = queries.movement_rows(session(), page["limit"])
    return Response(MovementSchema().dumps(rows, many=True), content_type="application/json")


@blueprint.get("/export/stream")
@blueprint.arguments(PageSchema, location="query")
def export_stream(page: dict[str, int]) -> Response:
    """The text of ``/export/text``, while it is written."""
    from althaia import stream

    rows = queries.movement_stream(session(), page["limit"])
    opened = g.pop("session")

    def chunks() -> Iterator[bytes]:
        try:
            yield from stream(MovementSchema(), rows)
        finally:
            opened.close()

    return Response(chunks(), content_type="application/json")


def create_app() -> Flask:
    """The application, told by its environment what it uses."""
    settings = Settings.read()
    app = Flask("shop")
    app.config.update(
        API_TITLE="Shop", API_VERSION="1", OPENAPI_VERSION="3.0.3", PROPAGATE_EXCEPTIONS=False
    )
    if settings.provider:
        from althaia.adapters.flask import JSONProvider

        app.json = JSONProvider(app)
    app.extensions["shop_engine"] = settings.engine()
    app.teardown_appcontext(close_session)
    Api(app).register_blueprint(blueprint)
    return app
