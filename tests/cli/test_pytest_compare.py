"""``pytest -p althaia.pytest_plugin --althaia-compare``: a difference fails the test."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.cli.test_compare import PLANTED, SHOP
from tests.engine import NEEDS_ENGINE

TESTS = """
import pytest
from planted import Order, orders

def test_right():
    assert Order().dump({"number": 1}) == {"number": 1}
    assert Order().load({"number": 1}) == {"number": 1}

def test_wrong():
    Order().dump(orders(), many=True)

@pytest.fixture
def made():
    Order(many=True).dump(orders())

def test_wrong_in_a_fixture(made):
    pass

@pytest.mark.xfail(strict=False)
def test_expected_to_fail():
    Order().dump(orders()[3])
    assert False

def test_failing():
    Order().dump(orders()[3])
    assert False
"""


@pytest.fixture
def suite(
    run: Callable[..., CompletedProcess[str]], tmp_path: Path
) -> Callable[..., CompletedProcess[str]]:
    (tmp_path / "shop.py").write_text(SHOP)
    (tmp_path / "planted.py").write_text(PLANTED)
    (tmp_path / "test_shop.py").write_text(TESTS)
    words = ("-m", "pytest", "-p", "no:cacheprovider", "-p", "althaia.pytest_plugin")
    # The plugins of this environment would take a second to import, each time.
    alone = {"PYTEST_ADDOPTS": "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    env = {"PYTHONPATH": str(tmp_path), **alone}
    return lambda *more, **kwargs: run(*words, *more, env=env, **kwargs)


@NEEDS_ENGINE
@pytest.mark.parametrize(
    "more", [(), pytest.param(("-p", "xdist", "-n", "1"), marks=pytest.mark.slow)]
)
def test_a_difference_fails_the_test(suite, more):
    done = suite("--althaia-compare", "-rA", *more)
    assert done.returncode == 1
    said = done.stdout
    assert "PASSED test_shop.py::test_right" in said
    for name in ("test_wrong", "test_expected_to_fail", "test_failing"):
        assert f"FAILED test_shop.py::{name}" in said
    assert "ERROR test_shop.py::test_wrong_in_a_fixture" in said
    assert (
        "althaia: shop.Order.dump differs at [3].lines[1].price: 5.5 by the plan, 4.5 by "
        "marshmallow's own code"
    ) in said
    assert "althaia: 6 calls compared, 4 different" in said


def test_without_the_option_nothing_is_compared(suite):
    done = suite("-k", "wrong")
    assert done.returncode == 0, done.stdout
    assert "compared" not in done.stdout
