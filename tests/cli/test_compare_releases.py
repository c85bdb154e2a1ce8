"""A wrong answer of a plan is found on other releases, in a program, a suite and the command."""

import os
from functools import partial

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


@NEEDS_ENGINE
@pytest.mark.parametrize("version", ["4.3.1", "3.26.2"])
def test_a_planted_answer_is_found(version, tmp_path):
    for name, text in (("shop", SHOP), ("planted", PLANTED), ("test_orders", SUITE)):
        (tmp_path / f"{name}.py").write_text(text)
    paths = os.pathsep.join([str(releases.installed(version)), str(tmp_path)])
    run = partial(processes.run, cwd=tmp_path, env={"PYTHONPATH": paths, "PYTEST_ADDOPTS": ""})

    found = run("-c", IN_PROCESS.format(version=version))
    expected = "[('dump', '[3].lines[1].price'), ('load', '[3].lines[1].price')]\n"
    assert found.stdout == expected, found.stderr

    words = ("-m", "althaia", "compare")
    right = run(*words, "shop:Order", "--objects", "shop:orders")
    wrong = run(*words, "planted:Order", "--objects", "planted:orders")
    assert (right.returncode, wrong.returncode) == (0, 1), right.stderr + wrong.stderr
    assert "lines[1].price" in wrong.stdout

    done = run("-m", "pytest", "-p", "althaia.pytest_plugin", "--althaia-compare", "-q")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "[3].lines[1].price" in done.stdout
