"""The table in ``benchmarks/README.md``: each case and each test that it names is there."""

import re
from pathlib import Path

import pytest

from benchmarks.cases import CASES

ROOT = Path(__file__).parents[2]
ROWS = [
    line.strip("|").split("|")
    for line in (ROOT / "benchmarks" / "README.md").read_text("utf-8").splitlines()
    if line.startswith("|") and "tests/" in line
]


def test_the_table_is_read():
    assert len(ROWS) > 15
    assert {len(row) for row in ROWS} == {3}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0].strip())
def test_cases_and_tests_are_there(row):
    cases, tests = (re.findall("`([^`]+)`", cell) for cell in row[1:])
    assert cases
    assert not set(cases) - set(CASES)
    for file, _, name in (test.partition("::") for test in tests):
        text = (ROOT / file).read_text("utf-8")
        assert f"def {name}(" in text if name else "def test_" in text
