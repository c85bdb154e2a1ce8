from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tests.redirect import processes


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., object]:
    """Runs the interpreter in an empty folder; whatever comes of it."""
    return partial(processes.run, cwd=tmp_path)
