"""Upstream's own test suite, unchanged, on our copy under upstream's name.

The suite comes from the sdist that the lock pins, checked by its hash. It runs in a process
of its own, redirected before anything could import marshmallow.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from buildtools.fetch import fetch
from buildtools.layout import Layout
from buildtools.lock import read

ROOT = Path(__file__).parents[2]
RELEASE = os.environ.get("ALTHAIA_TEST_RELEASE") or None
TESTS = {"4.4.0": 1192}
"""How many tests a release's suite holds, counted on the real marshmallow."""


@pytest.fixture(scope="session")
def suite() -> Path:
    """The folder of upstream's unpacked sdist."""
    layout = Layout(ROOT)
    return fetch(read(layout.lock), layout.lock.parent, RELEASE)


def run(suite: Path, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    # Upstream's package of tests is called `tests`, as ours is: it must come first.
    # Another release that is to be tested lies where that variable says.
    others = filter(None, [os.environ.get("PYTHONPATH")])
    path = os.pathsep.join([str(suite), str(Path(__file__).parent), str(ROOT), *others])
    return subprocess.run(
        [
            sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider",
            "-c", str(Path(__file__).with_name("pytest.ini")), "--rootdir", str(suite),
            "--ignore", str(suite / "tests" / "mypy_test_cases"), *options, str(suite / "tests"),
        ],
        cwd=suite,
        env={**os.environ, "PYTHONPATH": path, **environment},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )  # fmt: skip


PATCHED = ("-p", "althaia.pytest_plugin", "-p", "upstream_guard")


ENVIRONMENTS = {
    "as-it-is": {},
    "plans-at-once": {"ALTHAIA_TESTS_BUILD_AT_ONCE": "1"},
    "no-plans": {"ALTHAIA_PLANS": "0"},
}
if os.environ.get("ALTHAIA_PURE_BUILD") == "1":
    # There is no engine to hurry.
    del ENVIRONMENTS["plans-at-once"]


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_all_of_upstreams_tests_pass(suite: Path, environment: str) -> None:
    done = run(suite, *PATCHED, **ENVIRONMENTS[environment])
    output = done.stdout + done.stderr
    assert done.returncode == 0, output[-6000:]
    assert "guard: our copy was tested and nothing else" in output
    counts = {word: int(count) for count, word in re.findall(r"(\d+) (\w+)", _last_line(done))}
    if RELEASE:
        # As many as pass on the real one, which is what comes first on the path.
        assert _last_line(done).split(" in ")[0] == _last_line(run(suite)).split(" in ")[0]
        return
    version = tomllib.loads((ROOT / "vendor/marshmallow/lock.toml").read_text("utf-8"))["version"]
    assert counts.get("passed") == TESTS[version], output[-2000:]
    assert not set(counts) & {"failed", "error", "errors", "skipped", "deselected", "xfailed"}


def test_the_guard_sees_the_real_marshmallow(suite: Path) -> None:
    done = run(suite, "-p", "upstream_guard", "-p", "althaia", "-k", "test_exceptions")
    assert done.returncode != 0
    assert "is not our copy" in done.stdout


def _last_line(done: subprocess.CompletedProcess[str]) -> str:
    return next(line for line in reversed(done.stdout.splitlines()) if " passed" in line)
