"""Wrong answers planted for one test, and compare mode switched off behind each."""

import pytest

from althaia import seam
from althaia.trust import compare, seam_layers
from tests.conformance.harness import engine, plans_at_once
from tests.trust import planted


@pytest.fixture(autouse=True)
def _at_once():
    if engine is None:
        yield
        return
    seam.load_engine()
    with plans_at_once():
        yield


@pytest.fixture(autouse=True)
def _off():
    yield
    compare.stop()


@pytest.fixture
def plant():
    """Let a function change what the plan of one of the seam's functions gives."""
    layers = []
    yield lambda name, wrong: layers.append(planted.plant(wrong, name))
    for layer in layers:
        seam_layers.take(layer)
