"""The Makefile: what it leaves alone."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(shutil.which("make") is None, reason="this system has no make")
def test_an_environment_that_make_did_not_make_is_kept(tmp_path: Path) -> None:
    venv = tmp_path / "venv"
    venv.mkdir()
    (venv / "pyvenv.cfg").write_text("home = somewhere\n")
    done = subprocess.run(
        ["make", "demo", f"VENV={venv}", f"PYTHON={sys.executable}"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode != 0
    assert f"{venv} was not made by make: remove it, or name another" in done.stderr
    assert [each.name for each in venv.iterdir()] == ["pyvenv.cfg"]
