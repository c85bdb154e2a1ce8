"""What tests ask of the interpreter that they run on."""

from __future__ import annotations

import sys
import sysconfig

import pytest

FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))

lazily = pytest.mark.skipif(
    FREE_THREADED,
    reason="without the GIL instances are built in full, and the first one loads the engine",
)

notices_exchanged_keys = pytest.mark.skipif(
    sys.maxsize < 2**32,
    reason="compiled loops have no room to count a dictionary's keys in a word of 32 bits",
)
