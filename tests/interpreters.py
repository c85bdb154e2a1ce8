"""What tests ask of the interpreter that they run on."""

from __future__ import annotations

import sysconfig

import pytest

FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))

lazily = pytest.mark.skipif(
    FREE_THREADED,
    reason="without the GIL instances are built in full, and the first one loads the engine",
)
