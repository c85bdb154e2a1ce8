"""A stream outlives the request; a session is removed at the request's end."""

import asyncio

import pytest

import althaia


class Session:
    """Its first query opens it, and its cursors end when it is removed."""

    def __init__(self, rows):
        self.rows = rows
        self.opened = 0

    def query(self):
        self.opened += 1
        return self._cursor(self.opened)

    def _cursor(self, number):
        for row in self.rows:
            assert self.opened == number, "the cursor does not exist"
            yield row

    async def later(self):
        for row in self.query():
            yield row

    def remove(self):
        self.opened = -abs(self.opened)


@pytest.fixture
def session(orders):
    return Session(orders)


@pytest.mark.parametrize("lines", [False, True])
def test_flask(schema, session, lines):
    flask = pytest.importorskip("flask")
    from althaia.adapters.flask import stream_response

    app = flask.Flask("shop")
    app.teardown_appcontext(lambda error: session.remove())
    app.add_url_rule("/", "rows", lambda: stream_response(schema, session.query, lines=lines))
    answer = app.test_client().get("/")
    if lines:
        assert len(answer.data.splitlines()) == len(session.rows)
    else:
        assert answer.json == schema.dump(session.rows, many=True)
    assert session.opened == -1, "removed once more when the body is sent"
    # docs/adapters.md warns of a query that was begun before.
    app.testing, session.opened = True, 0
    app.view_functions["rows"] = lambda: stream_response(schema, session.query())
    with pytest.raises(AssertionError, match="cursor does not exist"):
        app.test_client().get("/")


def test_quart(schema, session):
    quart = pytest.importorskip("quart")
    app = quart.Quart("shop")

    @app.teardown_appcontext
    async def end(error):
        session.remove()

    @app.get("/")
    async def rows():
        return quart.Response(
            quart.stream_with_context(lambda: althaia.stream(schema, session.later))(),
            mimetype="application/json",
        )

    async def get():
        return await (await app.test_client().get("/")).get_json()

    assert asyncio.run(get()) == schema.dump(session.rows, many=True)
    assert session.opened == -1


def test_django(schema, session):
    pytest.importorskip("django")
    from django.conf import settings
    from django.core.signals import request_finished

    if not settings.configured:
        settings.configure(DEFAULT_CHARSET="utf-8", USE_I18N=False)
    from django.http import JsonResponse

    from althaia.adapters.django import SchemaStream

    def end(**_):
        session.remove()

    # Django itself closes old connections there.
    request_finished.connect(end)
    try:
        response = SchemaStream(schema, session.query)
        body = b"".join(response.streaming_content)
        response.close()
    finally:
        request_finished.disconnect(end)
    assert body == JsonResponse(schema.dump(session.rows, many=True), safe=False).content
    assert session.opened == -1


@pytest.mark.parametrize("asynchronous", [False, True])
def test_fastapi(schema, session, asynchronous):
    fastapi = pytest.importorskip("fastapi")
    client = pytest.importorskip("fastapi.testclient")
    from althaia.adapters.starlette import SchemaStream

    def opened():
        yield session
        session.remove()

    app = fastapi.FastAPI()

    @app.get("/")
    def rows(db=fastapi.Depends(opened)):  # noqa: B008
        return SchemaStream(schema, db.later if asynchronous else db.query)

    assert client.TestClient(app).get("/").json() == schema.dump(session.rows, many=True)
    assert session.opened < 0
