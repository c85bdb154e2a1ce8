"""Failed tests are shown so that the mistake is found: in one run of two a mistake is planted."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conformance import harness
from tests.conformance.differ import Differ, path_to

ROOT = Path(__file__).parents[1]

PLANTED = """
import pytest
from tests.conformance.differ import Differ

@pytest.mark.parametrize("kind", ["Integer", "Float"])
def test_one(kind):
    raise Differ("wrong " + 300 * "x", {"kinds": [kind], "direction": "load"})

def test_several():
    raise Differ("wrong", {"kinds": ["Integer", "Raw"], "direction": "load"})

def test_surrogate():
    print("\\ud800")
    assert "\\ud800" == "x"
"""


def pytest_of(folder, *options, ci=False):
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options]
    env = {name: value for name, value in os.environ.items() if name not in {"CI", "BUILD_NUMBER"}}
    env |= {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"} | ({"CI": "true"} if ci else {})
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("ci", [False, True], ids=["by hand", "in CI"])
@pytest.mark.parametrize("jobs", ["0", "2"])
def test_a_run_with_failures(tmp_path, jobs, ci):
    (tmp_path / "test_planted.py").write_text(PLANTED, "utf-8")
    run = pytest_of(tmp_path, "-n", jobs, "-p", "tests.failures", ci=ci)
    assert run.returncode == 1, run.stdout + run.stderr
    assert "4 failed" in run.stdout
    assert "\\ud800" in run.stdout
    groups = run.stdout.partition("most direct first")[2]
    assert "Integer, load: 1, and 1 with other kinds beside it\n    test_planted.py" in groups
    assert "Float, load: 1\n" in groups
    assert groups.index("Float, load") < groups.index("test_planted.py: 1")
    # The header's line of plugins is pytest's, as long as what is installed.
    failures = run.stdout.partition("FAILURES")[2]
    # In CI pytest writes a failed test's name and the whole message in one line.
    parts = [part for line in failures.splitlines() for part in line.split(" - ")]
    assert max(map(len, parts)) <= 200


def failure(function):
    with pytest.raises(Differ) as caught:
        harness.compare(function)
    return caught.value


def is_ours(library):
    return "althaia" in library.__name__


def test_the_input_and_the_one_thing_that_differs_are_named():
    def scenario(ma, log):
        fields = {"a": ma.fields.Integer(), "f": ma.fields.List(ma.fields.Raw())}
        schema = ma.Schema.from_dict(fields)()
        for name, value in {"one": 1, "two": 2, "three": 3}.items():
            log(name)
            wrong = 2 if value == 2 and is_ours(ma) else 0
            log("loaded", schema.load({"a": value, "f": [1, wrong]}))

    error = failure(scenario)
    for said in (
        "differ in log[3]",
        "case:     two",
        "input:    load({'a': 2, 'f': [1, 0]})",
        "fields:   Integer, List, Raw",
        "at:       builtins.dict[str f] > builtins.list",
        "expected: int 0x0 ",
        "got:      int 0x2 ",
        "1 of 6 entries",
    ):
        assert said in str(error)
    assert error.about == {"direction": "load", "kinds": ["Integer", "List", "Raw"]}
    # What is missing.
    error = failure(lambda ma, log: [1] if is_ours(ma) else [1, 2])
    for said in ("differ in result\n", "expected: int 0x2 )", "got:      )", "input:    (no call"):
        assert said in str(error)
    words = ("builtins.dict#0 (", "str a", "int 0x1", "str b", "builtins.list#1 (", "int 0x1")
    assert path_to(words, 2) == "builtins.dict[str a]"
    assert path_to(words, 5) == "builtins.dict[str b] > builtins.list"
