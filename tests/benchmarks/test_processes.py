"""Processes, turns, and the rule that what is wrong is never timed."""

import pickle
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.cases import CASES
from benchmarks.command import cell
from benchmarks.libraries import HAND_WRITTEN, OURS, UPSTREAM
from benchmarks.processes import WorkerFailed, contestants, measure

SMALL = CASES["small"]


class Scripted:
    """A contestant that gives a known output and takes a known time."""

    def __init__(self, library, output, seconds):
        self.library, self.output, self.seconds = library, output, seconds
        self.cases, self.timed = [SMALL.name], 0

    def ask(self, do, **details):
        if do == "prepare":
            Path(details["output"]).write_bytes(pickle.dumps(self.output))
            return {"loops": 2}
        self.timed += 1
        return {"seconds": self.seconds * details["loops"]}


def test_ratios_are_to_upstream():
    running = [Scripted(UPSTREAM, {"a": 1}, 0.5), Scripted(OURS, {"a": 1}, 0.1)]
    measured = measure(SMALL, running, 3, 0.01)
    assert measured.results["upstream"].ratio.median == 1
    assert measured.results["althaia"].ratio.median == pytest.approx(5)
    assert measured.results["althaia"].microseconds == pytest.approx(1e5)
    assert [contestant.timed for contestant in running] == [3, 3]


def test_a_wrong_output_is_shown_and_never_timed():
    running = [Scripted(UPSTREAM, {"a": 1}, 0.5), Scripted(OURS, {"a": 2}, 0.1)]
    result = measure(SMALL, running, 3, 0.01).results["althaia"]
    assert "output['a']: 1 (int) became 2 (int)" in result.wrong
    assert result.ratio is None
    assert result.microseconds is None
    assert running[1].timed == 0
    assert "WRONG" in cell(result, SMALL)


def test_who_lacks_a_case_is_left_out_and_who_fails_does_not_stop_the_rest():
    class Failing(Scripted):
        def ask(self, do, **details):
            raise WorkerFailed("boom")

    absent = Scripted(HAND_WRITTEN, None, 1)
    absent.cases = []
    running = [Scripted(UPSTREAM, 1, 0.5), Failing(OURS, 1, 1), absent]
    measured = measure(SMALL, running, 1, 0.01)
    assert measured.results["althaia"].failed == "boom"
    assert "hand-written" not in measured.results
    assert cell(measured.results.get("hand-written"), SMALL) == "–"


def test_three_real_processes():
    """The worker, the runners and the comparison together, on the smallest case."""
    # Compiled or not: these tests run on both builds.
    ours = replace(OURS, variables={})
    with contestants([UPSTREAM, ours, HAND_WRITTEN]) as (running, absent):
        assert absent == {}
        assert "marshmallow" in running[0].versions
        measured = measure(SMALL, running, 1, 0.001)
    wrong = {name: result.wrong or result.failed for name, result in measured.results.items()}
    assert wrong == dict.fromkeys(("upstream", "althaia", "hand-written"))
    assert all(result.ratio.median > 0 for result in measured.results.values())
