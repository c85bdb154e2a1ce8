"""Which tests run on the sanitized build."""

from __future__ import annotations

from pathlib import Path

import pytest

from buildtools import sanitize


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in sanitize.TESTS[:2]:
        (tmp_path / name).mkdir(parents=True)
    return tmp_path


def test_without_a_choice_all_that_there_are(tree: Path) -> None:
    assert sanitize.arguments(tree, [])[-2:] == list(sanitize.TESTS[:2])


@pytest.mark.parametrize("named", [sanitize.TESTS[1], f"{sanitize.TESTS[1]}::test_text"])
def test_named_tests_are_run_instead(tree: Path, named: str) -> None:
    words = sanitize.arguments(tree, ["-x", named])
    assert words[-2:] == ["-x", named]
    assert sanitize.TESTS[0] not in words


def test_an_expression_comes_after_ours_and_so_replaces_it(tree: Path) -> None:
    words = sanitize.arguments(tree, ["-k", "surrogate"])
    assert words.index(sanitize.LEFT_OUT) < words.index("surrogate")
    assert words[-2:] == list(sanitize.TESTS[:2])
