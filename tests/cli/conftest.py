from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path

import pytest

import althaia
from tests.redirect import processes


@pytest.fixture
def run(tmp_path):
    """Runs the interpreter in an empty folder; whatever comes of it."""
    return partial(processes.run, cwd=tmp_path)


@pytest.fixture
def copied(tmp_path):
    """A folder with a copy of althaia, which programs find first."""
    root = Path(althaia.__file__).parent.parent
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(root / "althaia", tmp_path / "althaia", ignore=ignore)
    if (queue := root / "patches").is_dir():  # A wheel has it in althaia.
        shutil.copytree(queue, tmp_path / "patches")
    return tmp_path
