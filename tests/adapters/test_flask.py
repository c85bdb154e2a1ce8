"""The provider writes what Flask's own writes, to the byte; responses straight from objects too."""

import datetime as dt
import decimal
import uuid

import pytest

flask = pytest.importorskip("flask")

from flask.json.provider import DefaultJSONProvider  # noqa: E402

from althaia.adapters.flask import JSONProvider, schema_response, stream_response, use  # noqa: E402
from tests.adapters import conftest  # noqa: E402
from tests.adapters.conftest import OWN_TEXTS, VALUES, PriceSchema  # noqa: E402

SETTINGS = [
    {},
    {"compact": False},
    {"compact": True},
    {"sort_keys": False},
    {"ensure_ascii": False},
    {"mimetype": "application/vnd.api+json"},
]


WRONG = [object(), {"a": {(1, 2): 3}}, [{"x": {1}}]]
"""What cannot be written."""


def outcome(call):
    return conftest.outcome(call, "data", "mimetype")


def make_app(ours, debug=False, **settings):
    app = flask.Flask("shop")
    app.debug = debug
    for name, value in settings.items():
        setattr(app.json, name, value)
    return use(app) if ours else app


@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_jsonify_writes_the_same_bytes(settings, debug):
    answers = []
    for ours in (False, True):
        app = make_app(ours, debug, **settings)
        with app.app_context():
            given = [*WRONG, {1: 2, "a": 3}, *VALUES]
            answers.append([outcome(lambda v=value: flask.jsonify(v)) for value in given])
            answers[-1] += [outcome(lambda: flask.jsonify(b=1, a=2))]
            answers[-1] += [outcome(lambda: flask.jsonify(1, 2))]
    assert answers[0] == answers[1]
    assert [each[0] for each in answers[0][: len(WRONG)]] == [TypeError] * len(WRONG)
    assert isinstance(app.json, JSONProvider)


def test_requests_are_read_alike():
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


def provided(**members):
    """An application with a provider that has methods of its own."""
    app = flask.Flask("shop")
    app.json = type("Own", (DefaultJSONProvider,), members)(app)
    return app


def test_a_providers_own_default_and_response_stay():
    def default(value):
        return "own" if isinstance(value, uuid.UUID) else DefaultJSONProvider.default(value)

    def response(self, *args, **kwargs):
        answer = DefaultJSONProvider.response(self, *args, **kwargs)
        answer.headers["X-Own"] = "1"
        return answer

    app = use(provided(default=staticmethod(default), response=response))
    provider = app.json
    assert use(app).json is provider
    with app.app_context():
        answer = flask.jsonify(uuid.uuid4())
    assert answer.get_data() == b'"own"\n'
    assert answer.headers["X-Own"] == "1"


def test_a_provider_that_writes_itself_is_refused():
    app = provided(dumps=lambda self, obj, **kwargs: "own")
    with pytest.raises(TypeError, match="has a dumps of its own"):
        use(app)
    assert type(app.json).__name__ == "Own"


def same(schema, *given):
    for obj, many in given:
        expected = flask.jsonify(schema.dump(obj, many=many))
        answer = schema_response(schema, obj, many=many)
        assert answer.get_data() == expected.get_data()
        assert answer.mimetype == expected.mimetype
        assert answer.headers == expected.headers


@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_a_schema_response_is_jsonify_of_the_dump(schema, orders, settings, debug):
    for ours in (False, True):
        with make_app(ours, debug, **settings).test_request_context():
            same(schema, (orders[3], None), (orders, True), ([], True), (None, None))


PRICE = {"amount": "1.50", "at": dt.date(2024, 2, 29)}


@pytest.mark.parametrize("ours", [False, True])
@pytest.mark.parametrize("make", OWN_TEXTS, ids=lambda make: make.__name__)
def test_a_schemas_own_text_is_not_what_is_sent(make, ours):
    with make_app(ours).test_request_context():
        same(make(), (PRICE, None), ([PRICE, PRICE], True))


@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("ours", [False, True])
def test_a_stream_is_written_by_the_applications_settings(ours, settings, debug):
    schema = PriceSchema()
    with make_app(ours, debug, **settings).test_request_context():
        for objects in ([PRICE, {"amount": decimal.Decimal("0.1"), "at": "ü"}] * 20, []):
            expected = flask.jsonify(schema.dump(objects, many=True))
            answer = stream_response(schema, iter(objects), chunk_bytes=128)
            chunks = list(answer.response)
            assert b"".join(chunks) == expected.get_data()
            assert len(chunks) > 5 or not objects
            assert answer.mimetype == expected.mimetype
        answer = stream_response(schema, [PRICE, PRICE], lines=True)
        assert answer.mimetype == "application/x-ndjson"
        assert [flask.json.loads(line) for line in answer.get_data().splitlines()] == [
            {"amount": "1.50", "at": "Thu, 29 Feb 2024 00:00:00 GMT"}
        ] * 2


@pytest.mark.parametrize("name", ["dumps", "response"])
@pytest.mark.parametrize("on_instance", [False, True])
def test_a_provider_that_writes_itself_does_not_stream(name, on_instance):
    app = provided(**({} if on_instance else {name: lambda *args, **kwargs: "own"}))
    if on_instance:
        setattr(app.json, name, lambda *args, **kwargs: "own")
    told = pytest.raises(TypeError, match="has a dumps or a response of its own")
    with app.test_request_context(), told:
        stream_response(PriceSchema(), [PRICE])
