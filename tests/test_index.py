"""tests/README.md says of each module which tests belong to it."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
TESTS = ROOT / "tests"
SOURCES = ("*.py", "*.pyx", "*.pxd", "*.pyi", "*.h", "*.pxi")
PAGE = (TESTS / "README.md").read_text("utf-8")


def rows() -> dict[str, list[str]]:
    """The tests of each module that a row of the table names."""
    found = re.findall(r"^\| (`[^|]+`) \| (.+) \|$", PAGE.partition("| --- |")[2], re.M)
    pairs = [tuple(re.findall(r"`([^`]+)`", cell) for cell in row) for row in found]
    return {source: tests for sources, tests in pairs for source in sources}


def rows_for(source: str, table: dict[str, list[str]]) -> list[str]:
    """The rows for a source file; ``FLOOR.pyx`` and ``FLOOR.pxd`` belong to ``FLOOR``."""
    stem = source.removesuffix(".pxd").removesuffix(".pyx")
    names = {source, stem, f"{stem}.pyx"}
    return [row for row in table if row in names or source.startswith(f"{row}/")]


def sources() -> list[str]:
    package = ROOT / "althaia"
    paths = (path.relative_to(package) for each in SOURCES for path in package.rglob(each))
    return sorted(path.as_posix() for path in paths if path.parts[0] != "marshmallow")


def test_each_module_has_a_row() -> None:
    table = rows()
    assert len(table) > 20
    assert not [source for source in sources() if not rows_for(source, table)]


def test_each_row_has_a_module_and_tests_that_there_are() -> None:
    for source, tests in rows().items():
        assert (ROOT / "althaia" / source).exists(), source
        assert tests, source
        assert not [name for name in tests if not (TESTS / name).exists()], source


def test_each_file_of_tests_is_named() -> None:
    named = set(re.findall(r"`([\w/.]+)`", PAGE))
    for path in TESTS.rglob("test_*.py"):
        name = path.relative_to(TESTS)
        assert {part.as_posix() for part in (name, *name.parents)} & named, name


def test_what_runs_first_is_there() -> None:
    for line in (TESTS / "quick.txt").read_text("utf-8").splitlines():
        path, _, name = line.partition("::")
        assert (ROOT / path).exists(), line
        assert not name or f"def {name}(" in (ROOT / path).read_text("utf-8"), line
