"""docs/worth-it.md, followed with an application of each framework."""

import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from tests.engine import NEEDS_ENGINE
from tests.redirect.processes import environment

pytestmark = [pytest.mark.slow, NEEDS_ENGINE]

PAGE = Path(__file__).parents[2] / "docs" / "worth-it.md"
SCHEMA = """
import contextvars, time
from marshmallow import Schema, fields
class Row:
    number = 5
    @property
    def waits(self):
        time.sleep(0.005)
        return INSIDE()
class Order(Schema):
    number = fields.Integer()
    waits = fields.String()
"""
APPLICATIONS = {
    "flask": """
from flask import Flask, current_app
app = Flask(__name__)
INSIDE = lambda: current_app.name
@app.get("/")
def orders():
    return {"orders": Order(many=True).dump([Row()])}
""",
    "fastapi": """
from fastapi import FastAPI
app = FastAPI()
INSIDE = lambda: "x"
@app.get("/")
async def orders():
    return {"orders": Order(many=True).dump([Row()])}
""",
    "django": """
import sys
from django.conf import settings
settings.configure(ROOT_URLCONF=__name__, SECRET_KEY="x", ALLOWED_HOSTS=["*"])
from django.core.management import execute_from_command_line
from django.http import JsonResponse
from django.urls import path
INSIDE = lambda: settings.SECRET_KEY
urlpatterns = [path("", lambda request: JsonResponse({"orders": Order(many=True).dump([Row()])}))]
if __name__ == "__main__":
    execute_from_command_line(sys.argv)
""",
}
SERVERS = {"flask": "gunicorn", "fastapi": "uvicorn", "django": "django"}


def command_of(framework):
    """The page's command, without the interpreter's name and the framework's."""
    found = re.search(rf"^\$ python (.*?) +# {framework}$", PAGE.read_text("utf-8"), re.M | re.I)
    assert found is not None
    return found[1].split()


@pytest.mark.parametrize("framework", list(APPLICATIONS))
def test_the_command_answers(framework, tmp_path):
    pytest.importorskip(framework)
    pytest.importorskip(SERVERS[framework])
    name = "manage.py" if framework == "django" else "app.py"
    (tmp_path / name).write_text(SCHEMA + APPLICATIONS[framework])
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    place = {"flask": ["--bind", f"127.0.0.1:{port}"], "fastapi": ["--port", str(port)]}
    words = command_of(framework) + place.get(framework, [f"127.0.0.1:{port}"])
    with subprocess.Popen(
        [sys.executable, *words],
        cwd=tmp_path,
        env=environment({"PYTHONPATH": str(tmp_path)}),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        # What runs the tests in the background may have it ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as server:
        for _ in range(100):
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                time.sleep(0.1)
        for _ in range(40):
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=30) as answer:
                assert b'"number"' in answer.read()
        server.send_signal(signal.SIGINT)
        said = server.communicate(timeout=60)[1]
    share = re.search(r"marshmallow is (\d+)% of this process's processor time", said)
    assert share, said
    assert int(share[1]) < 30
    module = "__main__" if framework == "django" else "app"
    row = re.search(rf"^{module}\.Order +dump +40 .* (\d+) ms$", said, re.MULTILINE)
    assert row, said
    assert int(row[1]) >= 200
