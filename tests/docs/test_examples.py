"""Every example of the README and of docs/ runs, each page in a process and a folder of its own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.conftest import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
RUNNABLE = re.compile(r"^```(python|console)\n", re.M)
OTHER_SHELLS = re.compile(r"^```(sh|bash|shell)\b", re.M)


@pytest.mark.parametrize(
    "page",
    [page if page.parent == ROOT else pytest.param(page, marks=pytest.mark.slow) for page in PAGES],
    ids=lambda page: page.stem,
)
def test_the_examples_run(page: Path, tmp_path: Path) -> None:
    pytest.importorskip("sybil")
    text = page.read_text("utf-8")
    assert not OTHER_SHELLS.search(text), "commands stand in console blocks, which are run"
    if not RUNNABLE.search(text):
        pytest.skip("no example")
    if os.environ.get("ALTHAIA_PURE_BUILD"):
        pytest.skip("what examples show is what a compiled althaia prints")
    world = shutil.copytree(Path(__file__).parent / "world", tmp_path / "world")
    ran = subprocess.run(
        [sys.executable, "-m", "tests.docs.examples", str(page)],
        cwd=world,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(world), str(ROOT)])},
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.count("not run, ") == text.count("<!-- skip: next "), ran.stdout
