"""Schemas in use while the process collects, forks or ends, or user code does what it likes."""

import gc
import os

import pytest

from tests.hostile.processes import OURS, run
from tests.interpreters import frees_at_exit


def ended_well(library, case):
    found = run("lifetime", library, case)
    found.check()
    return found


FORKS = pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform does not fork")
REPORTS = [
    pytest.param("collected_in_mid_call", {"dumped": 30, "works": True}),
    pytest.param("finalizers_at_shutdown", {"finalizer": "dumped"}, marks=frees_at_exit),
    pytest.param("threads_at_shutdown", {"ended": True}),
    pytest.param("fork", {"children": [0], "works": True}, marks=FORKS),
]


@pytest.mark.parametrize("library", OURS)
@pytest.mark.parametrize(("case", "reported"), REPORTS)
def test_what_is_reported(library, case, reported):
    assert ended_well(library, case).results == reported


@pytest.mark.parametrize("library", OURS)
def test_schema_taken_apart_in_mid_dump(library):
    found = ended_well(library, "schema_taken_apart_in_mid_dump")
    assert len(found.results) == 13
    assert found.of("works")


@pytest.mark.parametrize("library", OURS)
@pytest.mark.parametrize(
    ("case", "least"), [("collections_that_change", 8), ("hostile_values", 25)]
)
def test_as_upstream(library, case, least):
    expected = ended_well("upstream", case)
    assert ended_well(library, case).results == expected.results
    assert len(expected.results) > least


JOBS = (
    *("dump an object", "dump a mapping", "dump an iterator"),
    *("load", "load a mapping", "load many"),
)


@pytest.mark.parametrize("library", OURS)
@pytest.mark.parametrize("job", JOBS)
def test_interrupted_out_of_any_call_into_user_code(job, library):
    """The same calls before, and all well afterwards."""
    expected, found = run("callbacks", "upstream").of(job), run("callbacks", library).of(job)
    assert len(expected) > 10
    assert found == expected
    # Each call was cut once; upstream lets every interruption out and then answers right.
    whole, *cut = expected
    assert [before[-1] for _, before, _ in cut] == whole[1]
    assert all(interrupted.startswith("KeyboardInterrupt") for interrupted, _, _ in cut)
    assert {afterwards for _, _, afterwards in cut} == {whole[0]}


@pytest.mark.slow
@pytest.mark.skipif(
    not hasattr(gc, "callbacks"), reason="this interpreter's collector calls nobody back"
)
@pytest.mark.parametrize("library", OURS)
@pytest.mark.parametrize(
    ("case", "least"),
    [
        ("replace_a_fields_dictionary", 241),
        ("construct_again", 241),
        ("replace_the_dictionary", 241),
        ("set_an_attribute", 241),
        ("waiting_for_a_lock", 39),
        # A collection in the allocation of an instance's dictionary replaces that dictionary.
        ("inline_values_replaced", 10_000),
    ],
)
def test_code_that_the_collector_runs(library, case, least):
    found = run("collector", library, case)
    found.check()
    assert found.of(case) >= least
