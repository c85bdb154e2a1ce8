"""The wheels that the workflow builds are those that docs/releasing.md lists."""

import re

import pytest

from tests.packaging.conftest import ROOT
from tests.redirect import processes

pytestmark = pytest.mark.slow

pytest.importorskip("cibuildwheel")

RUNNERS = [
    ("linux", "x86_64"),
    ("linux", "aarch64"),
    ("macos", "x86_64"),
    ("macos", "arm64"),
    ("windows", "AMD64"),
    ("windows", "ARM64"),
]


def built(platform, architecture):
    """What cibuildwheel would build from this project's own options."""
    words = ["--print-build-identifiers", "--platform", platform, "--archs", architecture]
    done = processes.run("-m", "cibuildwheel", *words, ROOT, cwd=None, timeout=900)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def listed():
    text = (ROOT / "docs" / "releasing.md").read_text("utf-8")
    section = text.partition("## Which wheels there are")[2].partition("\n## ")[0]
    interpreters = re.findall(r"`(cp\d+t?)`", section)
    systems = re.findall(r"`((?:manylinux|musllinux|macosx|win)_\w+)`", section)
    assert len(interpreters) > 4
    assert len(systems) > 5
    return {f"{interpreter}-{system}" for interpreter in interpreters for system in systems}


def test_the_list_is_what_is_built():
    assert set().union(*(built(*runner) for runner in RUNNERS)) == listed()


def test_the_workflow_has_a_machine_for_each():
    text = (ROOT / ".github" / "workflows" / "wheels.yml").read_text("utf-8")
    machines = set(re.findall(r"^ +- ((?:ubuntu|macos|windows)-[\w.-]+)$", text, re.MULTILINE))
    assert machines == {
        "ubuntu-latest",
        "ubuntu-24.04-arm",
        "macos-latest",
        "macos-15-intel",
        "windows-latest",
        "windows-11-arm",
    }
    assert "CIBW_" not in text, "options belong in pyproject.toml, where they can be tried"
