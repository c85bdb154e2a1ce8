"""The provider writes what Flask's own writes, to the byte; responses straight from objects too."""

from __future__ import annotations

import datetime as dt
import decimal
import uuid
from collections.abc import Callable
from typing import Any

import pytest

flask = pytest.importorskip("flask")

from flask.json.provider import DefaultJSONProvider  # noqa: E402

from althaia.adapters.flask import (  # noqa: E402
    JSONProvider,
    schema_response,
    stream_response,
    use,
)
from tests.adapters.conftest import OWN_TEXTS, VALUES, PriceSchema  # noqa: E402

SETTINGS: list[dict[str, Any]] = [
    {},
    {"compact": False},
    {"compact": True},
    {"sort_keys": False},
    {"ensure_ascii": False},
    {"mimetype": "application/vnd.api+json"},
]


def outcome(call: Callable[[], Any]) -> object:
    """Return what a call gives: the body and its type, or the exception."""
    try:
        response = call()
    except Exception as error:
        return type(error), str(error), getattr(error, "__notes__", None)
    return response.get_data(), response.mimetype


def make_app(ours: bool, debug: bool = False, **settings: Any) -> Any:
    app = flask.Flask("shop")
    app.debug = debug
    for name, value in settings.items():
        setattr(app.json, name, value)
    return use(app) if ours else app


@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_jsonify_writes_the_same_bytes(settings: dict[str, Any], debug: bool) -> None:
    answers = []
    for ours in (False, True):
        app = make_app(ours, debug, **settings)
        with app.app_context():
            answers.append(
                [outcome(lambda v=value: flask.jsonify(v)) for value in VALUES]
                + [outcome(lambda: flask.jsonify(b=1, a=2)), outcome(lambda: flask.jsonify(1, 2))]
            )
    assert answers[0] == answers[1]
    assert isinstance(app.json, JSONProvider)


@pytest.mark.parametrize("value", [{1: 2, "a": 3}, object(), {"a": {(1, 2): 3}}, [{"x": {1}}]])
def test_what_cannot_be_written_raises_the_same(value: object) -> None:
    answers = []
    for ours in (False, True):
        with make_app(ours).app_context():
            answers.append(outcome(lambda: flask.jsonify(value)))
    assert answers[0] == answers[1]
    assert isinstance(answers[0], tuple)
    assert answers[0][0] is TypeError


def test_requests_are_read_alike() -> None:
    for text in (b'{"a": [1, 2.5, "\\u00fc"]}', b"[1,", b"\xff", b'{"a": NaN}'):
        answers = []
        for ours in (False, True):
            app = make_app(ours)
            app.add_url_rule(
                "/", "echo", lambda: flask.jsonify(flask.request.json), methods=["POST"]
            )
            response = app.test_client().post("/", data=text, content_type="application/json")
            answers.append((response.status_code, response.get_data()))
        assert answers[0] == answers[1]


def test_a_providers_own_default_and_response_stay() -> None:
    class Own(DefaultJSONProvider):
        @staticmethod
        def default(value: object) -> object:
            return "own" if isinstance(value, uuid.UUID) else DefaultJSONProvider.default(value)

        def response(self, *args: Any, **kwargs: Any) -> Any:
            answer = super().response(*args, **kwargs)
            answer.headers["X-Own"] = "1"
            return answer

    app = flask.Flask("shop")
    app.json = Own(app)
    use(app)
    with app.app_context():
        answer = flask.jsonify(uuid.uuid4())
    assert answer.get_data() == b'"own"\n'
    assert answer.headers["X-Own"] == "1"


def test_a_provider_that_writes_itself_is_refused() -> None:
    class Own(DefaultJSONProvider):
        def dumps(self, obj: Any, **kwargs: Any) -> str:
            return "own"

    app = flask.Flask("shop")
    app.json = Own(app)
    with pytest.raises(TypeError, match="has a dumps of its own"):
        use(app)
    assert type(app.json) is Own


def test_use_twice_is_use_once() -> None:
    app = use(flask.Flask("shop"))
    provider = app.json
    assert use(app).json is provider


@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_a_schema_response_is_jsonify_of_the_dump(
    schema: Any, orders: list[Any], settings: dict[str, Any], debug: bool
) -> None:
    for ours in (False, True):
        app = make_app(ours, debug, **settings)
        with app.test_request_context():
            for obj, many in ((orders[3], None), (orders, True), ([], True), (None, None)):
                expected = flask.jsonify(schema.dump(obj, many=many))
                answer = schema_response(schema, obj, many=many)
                assert answer.get_data() == expected.get_data()
                assert answer.mimetype == expected.mimetype
                assert answer.headers == expected.headers


def test_a_stream_is_jsonify_of_the_dumped_list(schema: Any, orders: list[Any]) -> None:
    app = make_app(True)
    with app.test_request_context():
        expected = flask.jsonify(schema.dump(orders, many=True)).get_data()
        answer = stream_response(schema, iter(orders), chunk_bytes=512)
        chunks = list(answer.response)
    assert b"".join(chunks) == expected
    assert len(chunks) > 5


def test_a_stream_of_lines_has_one_object_a_line(schema: Any, orders: list[Any]) -> None:
    app = make_app(True)
    with app.test_request_context():
        answer = stream_response(schema, orders, lines=True)
        lines = b"".join(answer.response).splitlines()
        assert answer.mimetype == "application/x-ndjson"
        assert [flask.json.loads(line) for line in lines] == schema.dump(orders, many=True)


PRICE = {"amount": "1.50", "at": dt.date(2024, 2, 29)}


@pytest.mark.parametrize("ours", [False, True])
@pytest.mark.parametrize("make", OWN_TEXTS, ids=lambda make: make.__name__)
def test_a_schemas_own_text_is_not_what_is_sent(make: Callable[[], Any], ours: bool) -> None:
    schema = make()
    with make_app(ours).test_request_context():
        for obj, many in ((PRICE, None), ([PRICE, PRICE], True)):
            expected = flask.jsonify(schema.dump(obj, many=many))
            answer = schema_response(schema, obj, many=many)
            assert answer.get_data() == expected.get_data()
            assert answer.headers == expected.headers


@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("ours", [False, True])
def test_a_stream_is_written_by_the_applications_settings(
    ours: bool, settings: dict[str, Any], debug: bool
) -> None:
    schema = PriceSchema()
    with make_app(ours, debug, **settings).test_request_context():
        for objects in ([PRICE, {"amount": decimal.Decimal("0.1"), "at": "ü"}], []):
            expected = flask.jsonify(schema.dump(objects, many=True))
            answer = stream_response(schema, objects)
            assert answer.get_data() == expected.get_data()
            assert answer.mimetype == expected.mimetype
        lines = stream_response(schema, [PRICE, PRICE], lines=True).get_data().splitlines()
        assert [flask.json.loads(line) for line in lines] == [
            {"amount": "1.50", "at": "Thu, 29 Feb 2024 00:00:00 GMT"}
        ] * 2


@pytest.mark.parametrize("name", ["dumps", "response"])
@pytest.mark.parametrize("on_instance", [False, True])
def test_a_provider_that_writes_itself_does_not_stream(name: str, on_instance: bool) -> None:
    app = flask.Flask("shop")
    if on_instance:
        setattr(app.json, name, lambda *args, **kwargs: "own")
    else:
        own = {name: lambda self, *args, **kwargs: "own"}
        app.json = type("Own", (DefaultJSONProvider,), own)(app)
    with (
        app.test_request_context(),
        pytest.raises(TypeError, match="has a dumps or a response of its own"),
    ):
        stream_response(PriceSchema(), [PRICE])
