"""One application with all adapters: the kill switch changes which marshmallow runs, no byte."""

import pytest

from tests import releases
from tests.redirect.processes import succeed

pytestmark = pytest.mark.slow

APPLICATION = """
import asyncio, io, sys
import althaia, althaia.json
althaia.patch()
from marshmallow import Schema, ValidationError, fields, post_dump, pre_load

class Row(Schema):
    a = fields.Int()
    b = fields.Str()
    at = fields.DateTime()

    @post_dump
    def late(self, data, **kwargs):
        data["z"] = [1.5, None]
        return data

class Plain(Schema):
    a = fields.Int(required=True)
    b = fields.Str()

import inspect
# Its name in marshmallow 4 and in 3.
known = inspect.signature(post_dump).parameters
collecting = "pass_collection" if "pass_collection" in known else "pass_many"

class Collecting(Plain):
    @post_dump(**{collecting: True})
    def wrap(self, data, **kwargs):
        return {"rows": data}

rows = [{"a": n, "b": "é" * n} for n in range(40)]

for schema in (Row(), Plain(), Plain(many=True)):
    print("stream", b"".join(althaia.stream(schema, iter(rows))))
    print("lines", b"".join(althaia.stream(schema, iter(rows), lines=True, ensure_ascii=False)))
    print("bytes", althaia.json.dump_bytes(schema, rows, many=True, ensure_ascii=False))
try:
    althaia.stream(Collecting(), rows)
except althaia.StreamError as error:
    print("refused", str(error).replace(collecting, "pass_collection"))
print("indented", b"".join(althaia.stream(Row(), iter(rows[:3]), indent=2)))
text = b'{"a": 1}\\n{"a": "x"}\\n{oh}\\n\\n{"b": "no a"}'
for line in althaia.loads_stream(Plain(), io.BytesIO(text)):
    print("line", (line.number, line.value, type(line.error).__name__, str(line.error)))
    if isinstance(line.error, ValidationError):
        print("messages", line.error.messages)

async def later():
    for each in rows:
        yield each

async def streamed():
    return [chunk async for chunk in althaia.stream(Row(), later())]

print("async", b"".join(asyncio.run(streamed())))

import flask
from althaia.adapters import flask as on_flask
app = on_flask.use(flask.Flask("app"))
with app.test_request_context():
    for lines in (False, True):
        made = on_flask.stream_response(Row(), iter(rows), lines=lines)
        print("flask", (made.mimetype, b"".join(made.response)))
    print("flask", on_flask.schema_response(Row(many=True), rows).get_data())

from starlette.testclient import TestClient
from starlette.applications import Starlette
from starlette.routing import Route
from althaia.adapters.starlette import SchemaResponse, SchemaStream
served = Starlette(routes=[
    Route("/one", lambda request: SchemaResponse(Row(many=True), rows)),
    Route("/all", lambda request: SchemaStream(Row(), iter(rows))),
    Route("/later", lambda request: SchemaStream(Row(), later(), lines=True)),
])
client = TestClient(served)
for path in ("/one", "/all", "/later"):
    print("starlette", client.get(path).content)

from django.conf import settings
settings.configure(DEFAULT_CHARSET="utf-8")
from althaia.adapters import django as on_django
print("django", on_django.SchemaResponse(Row(many=True), rows).content)
print("django", b"".join(on_django.SchemaStream(Row(), iter(rows))))

print(bool(althaia.explain(Row).summary()))
"""


@pytest.fixture(scope="module")
def redirected(tmp_path_factory):
    for name in ("flask", "starlette", "httpx", "django"):
        pytest.importorskip(name)
    return succeed("-c", APPLICATION, cwd=tmp_path_factory.mktemp("app"))


def test_the_same_bytes(redirected, tmp_path):
    assert len(redirected.splitlines()) > 20
    for env in ({"ALTHAIA_DISABLE": "1"}, {"ALTHAIA_PLANS": "0"}):
        assert succeed("-c", APPLICATION, cwd=tmp_path, env=env) == redirected
    code = APPLICATION.replace("althaia.patch()", "")
    assert succeed("-c", code, cwd=tmp_path) == redirected


@pytest.mark.parametrize("version", ["4.3.1", "3.26.2"])
@pytest.mark.parametrize("disable", ["0", "1"])
def test_another_release(redirected, version, disable, tmp_path):
    env = {"PYTHONPATH": str(releases.installed(version)), "ALTHAIA_DISABLE": disable}
    served = f"import importlib.metadata as m\nassert m.version('marshmallow') == '{version}'"
    assert succeed("-c", f"{APPLICATION}\n{served}", cwd=tmp_path, env=env) == redirected


def test_a_real_schema_in_a_redirected_process(tmp_path):
    code = """
import marshmallow
real = marshmallow.Schema.from_dict({"a": marshmallow.fields.Int()})
import althaia, althaia.json, io
althaia.patch(force=True)
import marshmallow as ours
schema = ours.Schema.from_dict({"a": ours.fields.Int()})
rows = [{"a": n} for n in range(30)]
for each in (real, schema):
    for turn in range(3):
        made = b"".join(althaia.stream(each(), rows))
        made += althaia.json.dump_bytes(each(), rows, many=True)
        lines = [str(line.error) for line in althaia.loads_stream(each(), io.BytesIO(b'{"a": []}'))]
    print(made, lines)
"""
    first, second = succeed("-c", code, cwd=tmp_path).splitlines()
    assert first == second
