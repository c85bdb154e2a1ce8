"""User code that the collector runs while a schema is made, analysed or looked into."""

from __future__ import annotations

import gc

import pytest

from tests.hostile.processes import OURS, run

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not hasattr(gc, "callbacks"), reason="this interpreter's collector calls nobody back"
    ),
]


@pytest.mark.parametrize("library", OURS)
@pytest.mark.parametrize(
    "change",
    [
        "replace_a_fields_dictionary",
        "construct_again",
        "replace_the_dictionary",
        "set_an_attribute",
    ],
)
def test_changes_what_is_being_worked_on(library: str, change: str) -> None:
    found = run("collector", library, change)
    found.check()
    assert found.of(change) > 240


@pytest.mark.parametrize("library", OURS)
def test_waits_for_a_lock_of_its_own(library: str) -> None:
    found = run("collector", library, "waiting_for_a_lock", timeout=120)
    found.check()
    assert found.of("waiting_for_a_lock") == 39


@pytest.mark.parametrize("library", OURS)
def test_replaces_the_dictionary_that_an_instance_is_about_to_have(library: str) -> None:
    """User code replaces ``__dict__`` while CPython 3.11 makes it of inline values."""
    found = run("collector", library, "inline_values_replaced", timeout=300)
    found.check()
    assert found.of("inline_values_replaced") == 90_000
