"""The arithmetic around the clock; how long anything takes is not tested."""

import gc
import statistics

import pytest

from benchmarks.timing import FEWEST_COLLECTED, Spread, interleave, loops_for, ratios


def test_ratios_are_taken_round_by_round():
    # A machine that became half as fast in the third round moves both sides, not the ratio.
    assert ratios([1.0, 1.0, 2.0], [0.5, 0.5, 1.0]) == Spread(2.0, 2.0, 2.0)


def test_the_spread_is_the_middle_half():
    assert Spread.of([1, 2, 3, 4, 5]) == Spread(3, 2, 4)
    assert Spread.of([7]) == Spread(7, 7, 7)
    with pytest.raises(statistics.StatisticsError):
        Spread.of([])


def test_the_sides_take_turns():
    calls = []
    times = interleave(
        {"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, rounds=3, seconds=0.0005
    )
    assert {name: len(seen) for name, seen in times.items()} == {"a": 3, "b": 3}
    turns = [one for one, before in zip(calls, [None, *calls], strict=False) if one != before]
    # The first a, b are the calibration; then the order alternates: a b, b a, a b.
    assert turns == ["a", "b", "a", "b", "a", "b"]


@pytest.mark.parametrize(("collector", "loops"), [(False, 1), (True, FEWEST_COLLECTED)])
def test_slow_work_is_called_often_enough_for_the_collector_to_come_round(collector, loops):
    seen = []

    def work():
        seen.append(gc.isenabled())
        sum(range(200_000))

    assert loops_for(work, 0.00001, collector) == loops
    # The first call warms up.
    assert set(seen[1:]) == {collector}
    assert gc.isenabled()
