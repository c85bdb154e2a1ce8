"""Time two or more pieces of work in turns, so that noise falls on all of them alike."""

from __future__ import annotations

import gc
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from time import thread_time

from benchmarks.model import Work


@dataclass(frozen=True, slots=True)
class Spread:
    """A median with the range that holds the middle half of what was seen."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: list[float]) -> Spread:
        """Summarise ``values``; raises StatisticsError when there are none."""
        if len(values) < 2:
            only = statistics.median(values)
            return cls(only, only, only)
        low, median, high = statistics.quantiles(values, n=4, method="inclusive")
        return cls(median, low, high)


FEWEST_COLLECTED = 4
"""Calls in a round with the collector on. A full collection comes only every few calls of the
large cases: with a single one, a slow library's rounds would mostly be spared it and a fast
one's never."""


def loops_for(work: Work, seconds: float, collector: bool = False) -> int:
    """How many calls of ``work`` take about ``seconds``; it is warm afterwards."""
    work()
    loops = 1
    while (spent := time_loops(work, loops, collector)) < seconds / 4:
        loops *= 2 if spent > seconds / 50 else 10
    return max(FEWEST_COLLECTED if collector else 1, round(loops * seconds / spent))


def time_loops(work: Work, loops: int, collector: bool = False) -> float:
    """Seconds of this thread's processor time for ``loops`` calls.

    All of the work computes and none of it waits, so processor time is what a quiet machine's
    clock would say; on a busy one the wall clock mostly tells who else was running.

    Without ``collector`` the cyclic garbage collector is off while the clock runs, as in
    ``timeit``: what it costs depends on what else lives in the process.
    """
    turns = range(loops)
    if not collector:
        gc.collect()
        gc.disable()
    try:
        start = thread_time()
        for _ in turns:
            work()
        return thread_time() - start
    finally:
        gc.enable()


def interleave(
    works: Mapping[str, Work], rounds: int, seconds: float, collector: bool = False
) -> dict[str, list[float]]:
    """Seconds per call of every work, one figure a round, the works taking turns."""
    loops = {name: loops_for(work, seconds, collector) for name, work in works.items()}
    times: dict[str, list[float]] = {name: [] for name in works}
    for turn in range(rounds):
        # The order alternates: whoever always ran second would always meet a hotter machine.
        for name in works if turn % 2 == 0 else reversed(list(works)):
            spent = time_loops(works[name], loops[name], collector)
            times[name].append(spent / loops[name])
    return times


def ratios(baseline: list[float], times: list[float]) -> Spread:
    """How many times as fast as ``baseline``, round by round."""
    return Spread.of([one / other for one, other in zip(baseline, times, strict=True)])
