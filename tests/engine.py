"""Tests that need the engine are skipped in a pure build, which has none."""

from importlib.util import find_spec

import pytest

HAS_ENGINE = find_spec("althaia.engine.door") is not None
NEEDS_ENGINE = pytest.mark.skipif(not HAS_ENGINE, reason="a pure build has no engine")
