"""The gate on instruction counts, and the reading of callgrind's files."""

import json

import pytest

from benchmarks import instructions
from benchmarks.cases import CASES
from benchmarks.hotspots import hotspots, show

PART = """\
# callgrind format
version: 1
summary: 1060

ob=(1) /opt/lib/plans/dump.cpython-311-x86_64-linux-gnu.so
fl=(1) ???
fn=(1) run
0 54
+3 6
cob=(2) /opt/lib/libpython3.11.so.1.0
cfi=(2) dict.c
cfn=(2) insertdict
calls=9 30
0 900
* 100

ob=(2)
fn=(2)
12 900
"""


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


def test_own_cost_is_told_from_the_cost_of_calls(tmp_path):
    part = tmp_path / "callgrind.out.1"
    part.write_text(PART)
    assert hotspots(part) == {"dump:run": 160, "libpython3.11.so.1.0:insertdict": 900}
    assert show(part, 10, 1) == [" 84.9%         90  libpython3.11.so.1.0:insertdict"]
    assert instructions._total(part) == 1060
