"""tests/README.md says of each module which tests belong to it."""

import re
from pathlib import Path

from buildtools import mutants

ROOT = Path(__file__).parents[1]
TESTS = ROOT / "tests"
SOURCES = ("*.py", "*.pyx", "*.pxd", "*.pyi", "*.h", "*.pxi")
PAGE = (TESTS / "README.md").read_text("utf-8")
TABLE = mutants.table_of_tests(ROOT)


def sources():
    package = ROOT / "althaia"
    paths = (path.relative_to(package) for each in SOURCES for path in package.rglob(each))
    return sorted(path.as_posix() for path in paths if path.parts[0] != "marshmallow")


def test_each_module_has_a_row():
    assert len(TABLE) > 20
    assert not [source for source in sources() if not mutants.tests_of(Path(source), TABLE)]
    assert mutants.tests_of(Path("engine/run.pxd"), TABLE) == TABLE["engine/run"]
    assert (
        mutants.tests_of(Path("engine/planner/steps.pyx"), TABLE)
        == TABLE["engine/planner/steps.pyx"]
    )


def test_each_row_has_a_module_and_tests_that_there_are():
    for source, tests in TABLE.items():
        assert (ROOT / "althaia" / source).exists(), source
        assert tests, source
        assert not [name for name in tests if not (TESTS / name).exists()], source


def test_each_file_of_tests_is_named():
    named = set(re.findall(r"`([\w/.]+)`", PAGE))
    for path in TESTS.rglob("test_*.py"):
        name = path.relative_to(TESTS)
        assert {part.as_posix() for part in (name, *name.parents)} & named, name


def test_what_runs_first_is_there():
    for line in (TESTS / "quick.txt").read_text("utf-8").splitlines():
        path, _, name = line.partition("::")
        assert (ROOT / path).exists(), line
        assert not name or f"def {name}(" in (ROOT / path).read_text("utf-8"), line
