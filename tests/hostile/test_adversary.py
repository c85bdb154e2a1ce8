"""Input made to be expensive costs no more than with upstream, and grows as slowly."""

from __future__ import annotations

import pytest

import althaia
from tests.hostile.processes import OURS, run

pytestmark = [
    pytest.mark.alone,
    pytest.mark.skipif(
        not althaia.info().compiled, reason="a pure build runs the very code it is compared with"
    ),
]

# Below this, in seconds, a measurement says more about the machine than about the work.
NOISE = 0.005


@pytest.mark.parametrize("library", OURS)
def test_time_grows_as_with_upstream(library: str) -> None:
    expected, found = (run("adversary", name, timeout=900) for name in ("upstream", library))
    expected.check()
    found.check()
    assert len(found.results) > 30
    steeper = {
        what: (growth(expected.of(what)), growth(ours))
        for what, ours in found.results.items()
        if growth(ours) > max(3.2, 1.6 * growth(expected.of(what)))
    }
    assert not steeper


def growth(measured: dict[str, float]) -> float:
    return (measured["twice"] + NOISE) / (measured["once"] + NOISE)


@pytest.mark.parametrize("library", OURS)
def test_it_takes_no_longer_than_with_upstream(library: str) -> None:
    expected, found = (run("adversary", name, timeout=900) for name in ("upstream", library))
    slower = {
        what: (expected.of(what)["twice"], ours["twice"])
        for what, ours in found.results.items()
        if ours["twice"] > 1.5 * expected.of(what)["twice"] + NOISE
    }
    assert not slower


@pytest.mark.parametrize("library", OURS)
def test_it_takes_no_more_memory_than_with_upstream(library: str) -> None:
    expected, found = (run("adversary", name, timeout=900) for name in ("upstream", library))
    larger = {
        what: (expected.of(what)["peak"], ours["peak"])
        for what, ours in found.results.items()
        if ours["peak"] > 1.4 * expected.of(what)["peak"] + 100_000
    }
    assert not larger
