"""Schemas in use while the process collects, forks, ends, or has its objects taken apart."""

from __future__ import annotations

import os

import pytest

import althaia
from tests.hostile.processes import OURS, Outcome, run
from tests.interpreters import frees_at_exit


def ended_well(library: str, case: str) -> Outcome:
    found = run("lifetime", library, case)
    found.check()
    return found


@pytest.mark.parametrize("library", OURS)
class TestLifetime:
    def test_schemas_are_freed(self, library: str) -> None:
        assert ended_well(library, "schemas_are_freed").of("alive") == 0

    def test_collected_in_mid_call(self, library: str) -> None:
        found = ended_well(library, "collected_in_mid_call")
        assert found.of("dumped") == 30
        assert found.of("works")

    def test_at_exit(self, library: str) -> None:
        assert ended_well(library, "at_exit").of("at exit")

    @frees_at_exit
    def test_finalizers_at_shutdown(self, library: str) -> None:
        assert ended_well(library, "finalizers_at_shutdown").of("finalizer") == "dumped"

    def test_threads_at_shutdown(self, library: str) -> None:
        assert ended_well(library, "threads_at_shutdown").of("ended")

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform does not fork")
    def test_fork(self, library: str) -> None:
        found = ended_well(library, "fork")
        assert found.of("children") == [0]
        assert found.of("works")

    @pytest.mark.skipif(
        not althaia.info().compiled, reason="only extension modules refuse subinterpreters"
    )
    def test_subinterpreter(self, library: str) -> None:
        found = ended_well(library, "subinterpreter")
        assert found.of("answer") == "function"
        assert found.of("works")

    def test_schema_taken_apart_in_mid_dump(self, library: str) -> None:
        found = ended_well(library, "schema_taken_apart_in_mid_dump")
        assert len(found.results) == 13
        assert found.of("works")

    def test_collections_that_change(self, library: str) -> None:
        expected = ended_well("upstream", "collections_that_change")
        assert ended_well(library, "collections_that_change").results == expected.results
        assert len(expected.results) > 8

    def test_hostile_values(self, library: str) -> None:
        expected = ended_well("upstream", "hostile_values")
        assert ended_well(library, "hostile_values").results == expected.results
        assert len(expected.results) > 25
