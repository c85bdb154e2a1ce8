"""The gate on instruction counts, and the reading of callgrind's files."""

import json

import pytest

from benchmarks import instructions
from benchmarks.cases import CASES


def figures(ratio):
    return {"upstream": 1000, "ours": 1000 / ratio, "ratio": ratio}


def test_what_moved_and_what_has_no_counterpart_is_said():
    baseline = {"small": figures(6.0), "orders": figures(10.0), "hooks": figures(2.0)}
    counted = {"small": figures(6.1), "orders": figures(9.6), "hooks": figures(2.1)}
    orders, hooks = instructions.moved(baseline, counted)
    assert orders.startswith("orders: 10.00× became 9.60× (-4.0%, WORSE)")
    assert hooks.startswith("hooks: 2.00× became 2.10× (+5.0%, better)")
    assert instructions.moved({"small": figures(6.0)}, {"small": figures(5.9)}) == []
    said = instructions.moved({"old": figures(1.0)}, {"new": figures(1.0)})
    assert said == ["new: not in the baseline", "old: in the baseline but not counted"]


@pytest.mark.parametrize(
    ("ratio", "counted_on", "code"),
    [(5.0, None, 1), (6.0, None, 0), (8.0, None, 0), (5.0, "CPython 3.99", 0)],
)
def test_getting_worse_fails_on_the_same_interpreter(
    tmp_path, monkeypatch, capsys, ratio, counted_on, code
):
    baseline = tmp_path / "baseline.json"
    with monkeypatch.context() as patch:
        if counted_on:
            patch.setattr(instructions, "interpreter", lambda: counted_on)
        instructions.update({"small": figures(6.0)}, baseline)
    monkeypatch.setattr(instructions, "count", lambda cases: {"small": figures(ratio)})
    assert instructions.check(baseline) == code
    said = capsys.readouterr().out
    assert ("WORSE" in said) == (ratio == 5.0)
    assert (f"counted on {counted_on}" in said) == bool(counted_on)


def test_the_committed_baseline_names_cases_that_exist():
    baseline = json.loads(instructions.BASELINE.read_text())
    assert set(baseline["cases"]) <= set(CASES)
    assert all(figures["ratio"] > 0 for figures in baseline["cases"].values())


def test_the_total_of_a_part_is_its_summary(tmp_path):
    part = tmp_path / "callgrind.out.1"
    part.write_text("# callgrind format\nversion: 1\nsummary: 1060\n\nfn=(1) run\n0 54\n")
    assert instructions._total(part) == 1060
