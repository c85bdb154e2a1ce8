"""An interruption out of any call into user code: the same calls before, all well afterwards."""

from __future__ import annotations

import pytest

from tests.hostile.processes import OURS, run

JOBS = (
    "dump an object",
    "dump a mapping",
    "dump an iterator",
    "load",
    "load a mapping",
    "load many",
)


@pytest.mark.parametrize("library", OURS)
@pytest.mark.parametrize("job", JOBS)
def test_as_upstream(job: str, library: str) -> None:
    expected, found = run("callbacks", "upstream").of(job), run("callbacks", library).of(job)
    assert len(expected) > 10
    assert found == expected


@pytest.mark.parametrize("job", JOBS)
def test_each_call_was_cut_once(job: str) -> None:
    """A test of the program: upstream lets every interruption out and then answers right."""
    whole, *cut = run("callbacks", "upstream").of(job)
    assert [before[-1] for _, before, _ in cut] == whole[1]
    assert all(interrupted.startswith("KeyboardInterrupt") for interrupted, _, _ in cut)
    assert {afterwards for _, _, afterwards in cut} == {whole[0]}
