"""docs/rollout.md, followed on a gunicorn service with SQLite in which an answer is wrong."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

import althaia
from tests.redirect.processes import environment, run

pytestmark = pytest.mark.slow

for needed in ("gunicorn", "flask", "sqlalchemy"):
    pytest.importorskip(needed)

DOCUMENT = Path(str(althaia.__file__)).parents[1] / "docs" / "rollout.md"

SUITE = "python -m pytest -p althaia.pytest_plugin --althaia-compare"
OBJECTS = "python -m althaia compare shop:OrderSchema --objects shop:orders"
RECORDS = "python -m althaia compare shop:OrderSchema --data orders.ndjson --load"
WORKER = "ALTHAIA_PATCH=1 ALTHAIA_COMPARE=0.01 gunicorn shop:app"
EVERYWHERE = "ALTHAIA_PATCH=1 gunicorn shop:app"
BACK = "ALTHAIA_PATCH=1 ALTHAIA_DISABLE=1 gunicorn shop:app"

SHOP = """
import os
import althaia
from flask import Flask, jsonify, request
from marshmallow import Schema, fields
from sqlalchemy import Float, ForeignKey, create_engine, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship

class Base(DeclarativeBase):
    pass

class Order(Base):
    __tablename__ = "orders"
    id: Mapped[int] = mapped_column(primary_key=True)
    lines: Mapped[list["Line"]] = relationship(order_by="Line.id")

class Line(Base):
    __tablename__ = "lines"
    id: Mapped[int] = mapped_column(primary_key=True)
    order_id: Mapped[int] = mapped_column(ForeignKey("orders.id"))
    price: Mapped[float] = mapped_column(Float)

class LineSchema(Schema):
    price = fields.Float()

class OrderSchema(Schema):
    id = fields.Int()
    lines = fields.List(fields.Nested(LineSchema))

engine = create_engine("sqlite:///" + os.path.join(os.path.dirname(__file__), "shop.db"))
Base.metadata.create_all(engine)
with Session(engine) as session:
    if session.get(Order, 1) is None:
        for number in range(1, 31):
            lines = [Line(price=number * 1.5), Line(price=2.5)]
            session.add(Order(id=number, lines=lines))
        session.commit()

def orders():
    with Session(engine, expire_on_commit=False) as session:
        found = session.scalars(select(Order).order_by(Order.id)).all()
        for each in found:
            each.lines
        return found

app = Flask(__name__)

@app.get("/orders")
def listed():
    return jsonify(OrderSchema(many=True).dump(orders()))

@app.post("/orders")
def taken():
    return jsonify(OrderSchema().load(request.get_json()))

@app.get("/internal/althaia")
def althaia_report():
    return {
        "patched": althaia.is_patched(),
        "compare": althaia.compare_report().as_dict(),
        "calls": althaia.stats(),
    }
"""

PLANTED = """

# A step that goes wrong for one price of one order.
from althaia.trust import seam_layers

def layer(name, inner):
    def wrong(*args):
        given = inner(*args)
        for each in given if isinstance(given, list) else [given]:
            if isinstance(each, dict) and each.get("id") == 4:
                each["lines"][0]["price"] += 1
        return given
    return wrong if name in ("dump", "load") else None

if althaia.is_patched():
    seam_layers.put(layer)
"""

TESTS = """
from shop import OrderSchema, orders

def test_orders():
    assert len(OrderSchema(many=True).dump(orders())) == 30
"""


@pytest.fixture(params=["right", "wrong"])
def shop(request, tmp_path):
    """The service's folder, and whether a wrong answer is planted in it."""
    if althaia.info().plans != "on":
        pytest.skip("no plans run in this build")
    wrong = request.param == "wrong"
    (tmp_path / "shop.py").write_text(SHOP + (PLANTED if wrong else ""))
    (tmp_path / "test_shop.py").write_text(TESTS)
    records = [{"id": n, "lines": [{"price": 1.0}, {"price": "2"}]} for n in range(1, 8)]
    lines = [*map(json.dumps, records), '{"id": "x"}']
    (tmp_path / "orders.ndjson").write_text("\n".join(lines))
    return tmp_path, wrong


def words_of(command):
    """A command of the document: the words behind the interpreter, and its variables."""
    assert f"\n$ {command}\n" in DOCUMENT.read_text("utf-8"), "the document has another command"
    words = command.split()
    variables = dict(word.split("=", 1) for word in words if word.startswith("ALTHAIA_"))
    words = [word for word in words if not word.startswith("ALTHAIA_")]
    return (words[1:] if words[0] == "python" else ["-m", *words]), variables


@contextmanager
def serving(folder, words, variables):
    """A service of gunicorn's; its address."""
    path = folder / "log"
    log = path.open("w")
    process = subprocess.Popen(
        [sys.executable, *words, "--bind", "127.0.0.1:0"],
        cwd=folder,
        env=environment({**variables, "PYTHONPATH": str(folder)}),
        stdout=log,
        stderr=log,
        start_new_session=True,
    )
    try:
        yield listening(process, path)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        process.wait(30)
        log.close()


def listening(process, log):
    """The address that the service says it listens at; what it says instead, where it ended."""
    for _ in range(600):
        if found := re.search(r"Listening at: (http://\S+)", log.read_text()):
            return found[1]
        assert process.poll() is None, log.read_text()
        time.sleep(0.1)
    raise AssertionError(log.read_text())


def get(address, data=None):
    headers = {"Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(address, data, headers), timeout=30) as said:
        return bytes(said.read())


def test_the_test_suite(shop):
    folder, wrong = shop
    words, _ = words_of(SUITE)
    done = run(*words, "-p", "no:cacheprovider", cwd=folder, env={"PYTEST_ADDOPTS": ""})
    assert done.returncode == int(wrong), done.stdout + done.stderr
    assert f"1 calls compared, {int(wrong)} different" in done.stdout
    assert ("shop.OrderSchema.dump differs at [3].lines[0].price" in done.stdout) is wrong


@pytest.mark.parametrize("command", [OBJECTS, RECORDS])
def test_own_data(shop, command):
    folder, wrong = shop
    words, _ = words_of(command)
    done = run(*words, cwd=folder)
    assert done.returncode == int(wrong), done.stdout + done.stderr
    assert ("[3]: lines[0].price: " in done.stdout) is wrong


def test_one_worker(shop):
    folder, wrong = shop
    # Each call, not one in a hundred: the test has no week.
    words, variables = words_of(WORKER)
    with serving(folder, words, variables | {"ALTHAIA_COMPARE": "1"}) as address:
        for _ in range(5):
            assert len(json.loads(get(f"{address}/orders"))) == 30
            get(f"{address}/orders", b'{"id": 1, "lines": [{"price": 1}]}')
        report = json.loads(get(f"{address}/internal/althaia"))
    assert report["patched"]
    assert report["compare"]["compared"] == 10
    assert bool(report["compare"]["different"]) is wrong
    log = (folder / "log").read_text()
    assert log.count("shop.OrderSchema.dump differs at [3].lines[0].price: 7.0") == int(wrong)
    assert "ALTHAIA_COMPARE=0.01" in WORKER


def test_everywhere_and_back(shop):
    folder, wrong = shop
    with serving(folder, *words_of(EVERYWHERE)) as address:
        everywhere = get(f"{address}/orders"), get(f"{address}/orders")
        report = json.loads(get(f"{address}/internal/althaia"))
        assert report["patched"]
        assert report["compare"]["compared"] == 0
        assert report["calls"]["shop.OrderSchema"]["dump"]["calls"] > 0
    with serving(folder, *words_of(BACK)) as address:
        back = get(f"{address}/orders"), get(f"{address}/orders")
        report = json.loads(get(f"{address}/internal/althaia"))
        assert not report["patched"]
        assert report["calls"] == {}
    assert (everywhere == back) is not wrong
