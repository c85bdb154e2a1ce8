from __future__ import annotations

from functools import partial

import pytest

from tests.redirect import processes


@pytest.fixture
def run(tmp_path):
    """Runs the interpreter in an empty folder; whatever comes of it."""
    return partial(processes.run, cwd=tmp_path)
