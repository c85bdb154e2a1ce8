"""A wrong answer of a plan is found on other releases, in a program, a suite and the command."""

import os

import pytest

from tests import releases
from tests.cli.test_compare import PLANTED, SHOP
from tests.engine import NEEDS_ENGINE
from tests.redirect import processes

pytestmark = pytest.mark.slow

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

SUITE = """
from planted import Order, orders

def test_orders():
    assert len(Order(many=True).dump(orders())) == 5
"""


@pytest.fixture(params=["4.3.1", "3.26.2"])
def folder(request, tmp_path):
    (tmp_path / "shop.py").write_text(SHOP)
    (tmp_path / "planted.py").write_text(PLANTED)
    (tmp_path / "test_orders.py").write_text(SUITE)
    return tmp_path, request.param


@NEEDS_ENGINE
def test_a_planted_answer_is_found(folder):
    here, version = folder
    env = {
        "PYTHONPATH": os.pathsep.join([str(releases.installed(version)), str(here)]),
        "PYTEST_ADDOPTS": "",
    }

    found = processes.program(IN_PROCESS.format(version=version), cwd=here, env=env)
    assert found == "[('dump', '[3].lines[1].price'), ('load', '[3].lines[1].price')]\n"

    words = ("-m", "althaia", "compare")
    right = processes.run(*words, "shop:Order", "--objects", "shop:orders", cwd=here, env=env)
    wrong = processes.run(*words, "planted:Order", "--objects", "planted:orders", cwd=here, env=env)
    assert (right.returncode, wrong.returncode) == (0, 1), right.stderr + wrong.stderr
    assert "lines[1].price" in wrong.stdout

    plugin = ("-m", "pytest", "-p", "althaia.pytest_plugin", "--althaia-compare", "-q")
    done = processes.run(*plugin, cwd=here, env=env)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "[3].lines[1].price" in done.stdout
