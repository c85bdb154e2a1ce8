"""The demo compares what it says it compares, and its exit code can be trusted."""

import subprocess
import sys
from pathlib import Path
from typing import cast

import pytest

import althaia
from demo.measure import Case, DemoError, Worker, check_libraries, compare
from demo.worker import canonical

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
REAL = {"file": "/env/marshmallow/schema.py", "ours": False, "engine": False}
OURS = {"file": "/env/althaia/marshmallow/schema.so", "ours": True, "engine": True}


def test_a_small_run_is_identical_and_says_so():
    run = subprocess.run(
        [sys.executable, "-m", "demo", "--limit", "300", "--rounds", "1"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == 0, run.stderr
    assert "all ORM objects, nested" in run.stdout
    assert "300" in run.stdout
    assert "-m althaia bench" in run.stdout.splitlines()[-1]
    assert ("A pure build" in run.stdout) is not althaia.info().compiled


@pytest.mark.parametrize(
    ("upstream", "patched", "told"),
    [
        (OURS, OURS, "not the real"),
        (REAL, REAL, "not patched"),
        (REAL, {**OURS, "engine": False}, "uncompiled"),
    ],
)
def test_the_wrong_library_is_an_error(upstream, patched, told, monkeypatch):
    monkeypatch.setattr("demo.measure.is_pure", lambda _: False)
    with pytest.raises(DemoError, match=told):
        check_libraries(upstream, patched)


def test_the_right_libraries_are_none():
    check_libraries(REAL, OURS)


class Answers:
    def __init__(self, digests):
        self.digests = digests

    def ask(self, command, *args):
        return self.digests if command == "digests" else f"row {args[-1]} as {self.digests}"


@pytest.mark.parametrize(
    ("upstream", "patched", "told"),
    [
        (["a", "b"], ["a", "b"], None),
        (["a", "b"], ["a", "c"], "row 1"),
        (["a", "b"], ["a"], "2 rows"),
    ],
)
def test_a_difference_is_named(upstream, patched, told):
    one, other = (cast(Worker, Answers(digests)) for digests in (upstream, patched))
    difference = compare(Case("any", "any", 1), one, other)
    assert difference is None if told is None else told in str(difference)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({"a": 1}, {"a": 1.0}),
        ({"a": 1}, {"a": True}),
        ([1, [2]], [1, 2]),
        ((1,), [1]),
        ({"a": "1"}, {"a": 1}),
    ],
)
def test_the_canonical_form_tells_types_and_order_apart(one, other):
    assert list(canonical(one)) != list(canonical(other))
