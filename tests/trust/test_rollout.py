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
from tests.trust import planted

pytestmark = pytest.mark.slow

for needed in ("gunicorn", "flask", "sqlalchemy"):
    pytest.importorskip(needed)

DOCUMENT = Path(str(althaia.__file__)).parents[1] / "docs" / "rollout.md"

BEFORE = {
    "python -m pytest -p althaia.pytest_plugin --althaia-compare": "[3].lines[1].price",
    "python -m althaia compare shop:OrderSchema --objects shop:orders": "[3]: lines[1].price: ",
    "python -m althaia compare shop:OrderSchema --data orders.ndjson --load": "[3]: lines[1].price",
}
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
    number: Mapped[int] = mapped_column(primary_key=True)
    lines: Mapped[list["Line"]] = relationship(order_by="Line.id")

class Line(Base):
    __tablename__ = "lines"
    id: Mapped[int] = mapped_column(primary_key=True)
    order_id: Mapped[int] = mapped_column(ForeignKey("orders.number"))
    price: Mapped[float] = mapped_column(Float)

class LineSchema(Schema):
    price = fields.Float()

class OrderSchema(Schema):
    number = fields.Int()
    lines = fields.List(fields.Nested(LineSchema))

engine = create_engine("sqlite:///" + os.path.join(os.path.dirname(__file__), "shop.db"))
Base.metadata.create_all(engine)
with Session(engine) as session:
    if session.get(Order, 1) is None:
        for number in range(30):
            lines = [Line(price=number * 1.5), Line(price=2.5)]
            session.add(Order(number=number, lines=lines))
        session.commit()

def orders():
    with Session(engine, expire_on_commit=False) as session:
        found = session.scalars(select(Order).order_by(Order.number)).all()
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

PLANTED = f"{Path(planted.__file__).read_text('utf-8')}\nplant_dearer()\n"
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
    records = [{"number": n, "lines": [{"price": 1.0}, {"price": "2"}]} for n in range(7)]
    lines = [*map(json.dumps, records), '{"number": "x"}']
    (tmp_path / "orders.ndjson").write_text("\n".join(lines))
    return tmp_path, wrong


def words_of(command):
    """A command of the document: the words behind the interpreter, and its variables."""
    assert f"\n$ {command}\n" in DOCUMENT.read_text("utf-8"), "the document has another command"
    words = command.removeprefix("python -m ").split()
    variables = dict(word.split("=", 1) for word in words if word.startswith("ALTHAIA_"))
    return ["-m", *(word for word in words if not word.startswith("ALTHAIA_"))], variables


@contextmanager
def serving(folder, words, variables):
    """A service of gunicorn's; the address that it says it listens at."""
    path = folder / "log"
    with path.open("w") as log:
        process = subprocess.Popen(
            [sys.executable, *words, "--bind", "127.0.0.1:0"],
            cwd=folder, env=environment({**variables, "PYTHONPATH": str(folder)}),
            stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
        try:
            until = time.monotonic() + 60
            while not (found := re.search(r"Listening at: (http://\S+)", path.read_text())):
                assert process.poll() is None, path.read_text()
                assert time.monotonic() < until, path.read_text()
                time.sleep(0.1)
            yield found[1]
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            process.wait(30)


def get(address, data=None):
    headers = {"Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(address, data, headers), timeout=30) as said:
        return bytes(said.read())


@pytest.mark.parametrize("command", BEFORE)
def test_the_suite_and_own_data(shop, command):
    folder, wrong = shop
    done = run(*words_of(command)[0], cwd=folder, env={"PYTEST_ADDOPTS": ""})
    assert done.returncode == int(wrong), done.stdout + done.stderr
    assert (BEFORE[command] in done.stdout) is wrong


def test_one_worker(shop):
    folder, wrong = shop
    # Each call, not one in a hundred: the test has no week.
    words, variables = words_of(WORKER)
    with serving(folder, words, variables | {"ALTHAIA_COMPARE": "1"}) as address:
        for _ in range(5):
            assert len(json.loads(get(f"{address}/orders"))) == 30
            get(f"{address}/orders", b'{"number": 1, "lines": [{"price": 1}]}')
        report = json.loads(get(f"{address}/internal/althaia"))
    assert report["patched"]
    assert report["compare"]["compared"] == 10
    assert bool(report["compare"]["different"]) is wrong
    log = (folder / "log").read_text()
    assert log.count("shop.OrderSchema.dump differs at [3].lines[1].price: 3.5") == int(wrong)
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
