"""Upstream's own test suite, unchanged, on our copy under upstream's name."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from buildtools.fetch import fetch
from buildtools.layout import Layout
from buildtools.lock import read
from tests import releases

ROOT = Path(__file__).parents[2]
LOCK = read(Layout(ROOT).lock)
RELEASE = os.environ.get("ALTHAIA_TEST_RELEASE") or LOCK.version


def suite(version):
    """The folder of a release's unpacked sdist."""
    return fetch(LOCK, Layout(ROOT).lock.parent, version)


def run(version, *options, of="", **environment):
    """Run the suite of a release on that release."""
    folder = suite(version)
    # Upstream's package of tests is called `tests`, as ours is: it must come first.
    path = [folder, Path(__file__).parent, ROOT]
    if version != LOCK.version:
        path.append(releases.installed(version))
        environment["ALTHAIA_TEST_RELEASE"] = version
    # The plugins of this environment would take a second to import, each time.
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    return subprocess.run(
        [
            sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider",
            "-c", str(Path(__file__).with_name("suite.ini")), "--rootdir", str(folder),
            "--ignore", str(folder / "tests" / "mypy_test_cases"), *options,
            str(folder / "tests" / of),
        ],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path)), **environment},
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
PURE = os.environ.get("ALTHAIA_PURE_BUILD") == "1"
if PURE:
    # A pure build has no engine that could make plans at once.
    del ENVIRONMENTS["plans-at-once"]


HURRIED = "as-it-is" if PURE else "plans-at-once"
# A pure build runs upstream's own methods: one release 3 and one release 4 are enough.
OTHERS = [version for version in releases.TESTED if version in ("3.26.2", "4.3.1") or not PURE]
SLOW = pytest.mark.slow
RUNS = [
    pytest.param(RELEASE, environment, marks=() if environment == HURRIED else SLOW)
    for environment in ENVIRONMENTS
]
if LOCK.version == RELEASE:
    RUNS += [
        (version, HURRIED) if version == "4.3.1" else pytest.param(version, HURRIED, marks=SLOW)
        for version in OTHERS
        if version != RELEASE
    ]


@pytest.mark.parametrize(("version", "environment"), RUNS)
def test_all_of_upstreams_tests_pass(version, environment):
    done = run(version, *PATCHED, **ENVIRONMENTS[environment])
    output = done.stdout + done.stderr
    assert done.returncode == 0, output[-6000:]
    assert "guard: our copy was tested and nothing else" in output
    counts = {word: int(count) for count, word in re.findall(r"(\d+) (\w+)", _last_line(done))}
    assert counts.get("passed") == LOCK.suites[version], output[-2000:]
    assert not set(counts) & {"failed", "error", "errors", "skipped", "deselected", "xfailed"}


@pytest.mark.skipif(LOCK.version == RELEASE, reason="its deprecations are another release's")
def test_it_warns_as_often_as_the_real_one():
    real, patched = (_last_line(run(RELEASE, *options)) for options in ((), PATCHED))
    assert patched.split(" in ")[0] == real.split(" in ")[0]


def test_the_guard_sees_the_real_marshmallow():
    done = run(RELEASE, "-p", "upstream_guard", "-p", "althaia", of="test_exceptions.py")
    assert done.returncode != 0
    assert "is not our copy" in done.stdout


@pytest.mark.skipif(LOCK.version != RELEASE, reason="the compiled copy is of another release")
def test_the_guard_sees_another_release():
    # That folder is not on the path, so that the installed release is served.
    named = {"ALTHAIA_TEST_RELEASE": "4.3.1"}
    done = run(RELEASE, *PATCHED, of="test_exceptions.py", **named)
    assert done.returncode != 0
    assert "is served in the place of 4.3.1" in done.stdout


def _last_line(done):
    return next(line for line in reversed(done.stdout.splitlines()) if " passed" in line)
