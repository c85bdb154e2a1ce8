"""``python -m althaia compare``: what it finds, and its exit codes."""

import json
import os
from functools import partial
from pathlib import Path

import pytest

from tests import releases
from tests.engine import NEEDS_ENGINE
from tests.redirect import processes
from tests.trust import planted

SHOP = """
import itertools, os, time, weakref
from marshmallow import Schema, fields, pre_load

class Line(Schema):
    price = fields.Float()

class Order(Schema):
    number = fields.Int(required=True)
    lines = fields.List(fields.Nested(Line))

class Clocked(Schema):
    at = fields.Function(lambda obj: time.perf_counter_ns())

class Hooked(Order):
    @pre_load
    def take(self, data, **kwargs):
        data["number"] = data.pop("no")
        return data

def orders(count=5):
    return [{"number": n, "lines": [{"price": n * 1.5}] * 2} for n in range(count)]

class Session:
    def __init__(self):
        self.itself = self

class Lazy:
    def __init__(self, session):
        self.session = weakref.ref(session)

    @property
    def number(self):
        if self.session() is None:
            raise ValueError("the session is gone")
        return 1

def lazy(count):
    session = Session()
    return [Lazy(session) for _ in range(count)]
"""

PLANTED = Path(planted.__file__).read_text("utf-8") + "\nplant_dearer()\nfrom shop import *\n"


@pytest.fixture
def compare(run, tmp_path):
    (tmp_path / "shop.py").write_text(SHOP)
    (tmp_path / "planted.py").write_text(PLANTED)
    return lambda *words, **kwargs: run("-m", "althaia", "compare", *words, **kwargs)


@NEEDS_ENGINE
def test_no_difference(compare):
    done = compare("shop:Order", "--objects", "shop:orders", "--count", "4")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "shop:Order, 4 dict of shop:orders: 6 calls, 0 raised, 0 different",
        "  dump: 2 of 2 fields planned; load: 2 of 2 fields planned",
    ]


@NEEDS_ENGINE
def test_records_are_loaded(compare, tmp_path):
    lines = ['{"number": 1}', '{"number": "x"}', '{"lines": [{"price": "x"}]}', "7"]
    (tmp_path / "orders.ndjson").write_text("\n".join(lines))
    done = compare("shop:Order", "--data", "orders.ndjson", "--load")
    assert done.returncode == 0, done.stderr
    assert "4 records of orders.ndjson: 9 calls, 7 raised, 0 different" in done.stdout
    assert "every call raised" not in done.stdout
    assert "  the first exception: load [1]: ValidationError: {'number': ['Not a" in done.stdout
    # Data of another form are pointed out.
    (tmp_path / "orders.json").write_text('[{"number": "x"}, {"number": "y"}]')
    done = compare("shop:Order", "--data", "orders.json", "--load")
    assert done.returncode == 0, done.stderr
    assert "every call raised an exception" in done.stdout
    # A hook that changes a record changes its own.
    (tmp_path / "orders.json").write_text('[{"no": 1}, {"no": 2}]')
    done = compare("shop:Hooked", "--data", "orders.json", "--load", "--json")
    assert (done.returncode, json.loads(done.stdout)["different"]) == (0, 0)


@NEEDS_ENGINE
def test_what_is_no_difference(compare):
    done = compare("shop:Clocked", "--objects", "shop:orders")
    assert done.returncode == 0, done.stdout
    assert "at: not deterministic, marshmallow gave" in done.stdout
    # What only a cycle keeps alive is gone on both sides.
    done = compare("shop:Order", "--objects", "shop:lazy")
    assert (done.returncode, done.stdout) == (2, "")
    assert "raised an exception: dump [0]: ValueError: the session is gone" in done.stderr


@NEEDS_ENGINE
def test_a_wrong_answer_is_found(compare):
    words = ("planted:Order", "--objects", "planted:orders")
    done = compare(*words, "--json")
    assert done.returncode == 1, done.stderr
    report = json.loads(done.stdout)
    # Another function than the spoilt one writes the texts.
    assert report["different"] == 2
    known = {"call": "dump [3]", "path": "lines[1].price", "times": 2}
    assert report["differences"] == [known | {"planned": "5.5", "upstream": "4.5"}]
    done = compare(*words, "--count", "4")
    assert done.returncode == 1
    assert "  dump [3]: lines[1].price: 5.5 by althaia, 4.5 by marshmallow (2 calls)" in done.stdout


def test_a_build_without_plans_compares_nothing(compare):
    done = compare("shop:Order", "--objects", "shop:orders", env={"ALTHAIA_PLANS": "0"})
    assert done.returncode == 2
    assert "nothing to compare" in done.stderr


IN_PROCESS = """
import althaia
from importlib.metadata import version
althaia.patch()
assert althaia.is_patched() and version("marshmallow") == {version!r}
from planted import Order, orders
found = []
althaia.compare(1.0, found.append)
order = Order(many=True)
for _ in range(9):
    order.dump(orders())
    order.load(orders())
print(sorted((each.call, each.difference.path) for each in found))
"""


@NEEDS_ENGINE
@pytest.mark.slow
@pytest.mark.parametrize("version", ["4.3.1", "3.26.2"])
def test_a_planted_answer_is_found(version, tmp_path):
    for name, text in (("shop", SHOP), ("planted", PLANTED)):
        (tmp_path / f"{name}.py").write_text(text)
    paths = os.pathsep.join([str(releases.installed(version)), str(tmp_path)])
    run = partial(processes.run, cwd=tmp_path, env={"PYTHONPATH": paths})

    found = run("-c", IN_PROCESS.format(version=version))
    expected = "[('dump', '[3].lines[1].price'), ('load', '[3].lines[1].price')]\n"
    assert found.stdout == expected, found.stderr

    words = ("-m", "althaia", "compare")
    right = run(*words, "shop:Order", "--objects", "shop:orders")
    wrong = run(*words, "planted:Order", "--objects", "planted:orders")
    assert (right.returncode, wrong.returncode) == (0, 1), right.stderr + wrong.stderr
    assert "lines[1].price" in wrong.stdout
