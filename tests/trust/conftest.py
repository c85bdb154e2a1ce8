"""A wrong answer planted on purpose, and compare mode switched off behind each test."""

import pytest

from althaia import seam
from althaia.trust import compare, seam_layers
from tests.conformance.harness import engine, plans_at_once


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
    planted = []

    def plant(name, wrong):
        def layer(each, inner):
            def answer(*args):
                given = inner(*args)
                return given if given is seam.DECLINED else wrong(given)

            return answer if each == name else None

        planted.append(layer)
        seam_layers.put(layer)

    yield plant
    for layer in planted:
        seam_layers.take(layer)
