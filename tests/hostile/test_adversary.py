"""Input made to be expensive costs no more than with upstream, and grows as slowly."""

import pytest

import althaia
from tests.hostile.processes import OURS, run, run_side_by_side

pytestmark = [
    pytest.mark.slow,
    pytest.mark.alone,
    pytest.mark.skipif(
        not althaia.info().compiled, reason="a pure build runs the very code it is compared with"
    ),
]

# Below this, in seconds, a measurement says more about the machine than about the work.
NOISE = 0.005


# A busy machine makes one measurement longer, hardly ever the same one each time.
TRIES = 3

Measured = dict[str, float]


def worse(library, is_worse):
    """The attacks that came out worse than with upstream each time they were measured."""
    suspects = {}
    for _ in range(TRIES):
        outcomes = run_side_by_side("adversary", ("upstream", library), *suspects, timeout=900)
        expected, found = outcomes["upstream"], outcomes[library]
        expected.check()
        found.check()
        if suspects:
            assert found.results.keys() == suspects.keys()
        else:
            assert len(found.results) > 30
        suspects = {
            what: (expected.of(what), ours)
            for what, ours in found.results.items()
            if is_worse(expected.of(what), ours)
        }
        if not suspects:
            break
        # The next round measures anew.
        run.cache_clear()
    return suspects


def growth(measured):
    return (measured["twice"] + NOISE) / (measured["once"] + NOISE)


IS_WORSE = {
    "growth": lambda expected, ours: growth(ours) > max(3.2, 1.6 * growth(expected)),
    "time": lambda expected, ours: ours["twice"] > 1.5 * expected["twice"] + NOISE,
    "memory": lambda expected, ours: ours["peak"] > 1.4 * expected["peak"] + 100_000,
}


@pytest.mark.parametrize("library", OURS)
@pytest.mark.parametrize("what", IS_WORSE)
def test_it_costs_and_grows_no_more_than_with_upstream(what, library):
    assert not worse(library, IS_WORSE[what])
