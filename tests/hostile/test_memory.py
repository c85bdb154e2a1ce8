"""Where an allocation fails, MemoryError comes out, nothing leaks and the next answer is right."""

import sys
from importlib.util import find_spec

import pytest

import althaia
from tests.hostile.processes import OURS, run, skip_where_the_interpreter_crashes

JOBS = (
    *("dump", "dump many", "load", "load many", "refuse", "refuse in a hook"),
    *("dump with a new schema", "load with a new schema", "dumps", "dumps many", "loads"),
    *("dumps MessagePack", "loads MessagePack"),
)
PLANNED_JOBS = ("tree", "make plans", "make steps", "dumps a long text", "stream")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        find_spec("_testcapi") is None,
        reason="this Python was built without the module that makes allocations fail",
    ),
    pytest.mark.skipif(
        not althaia.info().compiled,
        reason="CPython 3.11 itself crashes where there is no memory for an interpreted frame",
    ),
]


@pytest.fixture(autouse=True)
def _interpreter_survives():
    skip_where_the_interpreter_crashes("no memory")
    if hasattr(sys, "gettotalrefcount"):
        skip_where_the_interpreter_crashes("no memory, with assertions")


ALL = [(job, library) for job in JOBS for library in OURS]


@pytest.mark.parametrize(("job", "library"), [*ALL, *((job, "plans") for job in PLANNED_JOBS)])
def test_each_allocation_may_fail_and_leaves_nothing_behind(job, library):
    if job == "make plans" and sys.version_info >= (3, 15):
        pytest.skip("CPython 3.15.0 itself crashes where list.append finds no memory")
    found = run("memory", library, timeout=900).of(job)
    assert found["failures"] > 20
    assert not found["strange"]
    # CPython loses some blocks itself where the frame of a function in the test cannot be had.
    assert "new schema" in job or found["leaked"] < found["failures"] / 2


def test_no_step_fails_otherwise():
    """Each kind of field dumps, loads and refuses, one allocation failing at a time."""
    found = run("memory", "plans", "steps", timeout=900)
    found.check()
    steps = {name: each for name, each in found.results.items() if name != "all"}
    assert len(steps) > 2 * len(found.of("all"))
    assert {name: each["strange"] for name, each in steps.items() if each["strange"]} == {}
    assert sum(each["failures"] for each in steps.values()) > 1_000
