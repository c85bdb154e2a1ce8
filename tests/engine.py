"""Tests that need the engine are skipped in a pure build, which has none."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

NEEDS_ENGINE = pytest.mark.skipif(
    find_spec("althaia.engine.door") is None, reason="a pure build has no engine"
)
