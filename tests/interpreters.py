"""What tests ask of the interpreter that they run on."""

import sys
import sysconfig

import pytest

FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))

PYPY = sys.implementation.name == "pypy"

lazily = pytest.mark.skipif(
    FREE_THREADED,
    reason="without the GIL instances are built in full, and the first one loads the engine",
)

frees_at_exit = pytest.mark.skipif(PYPY, reason="PyPy runs no finalizers when it ends")

sends_by_value = pytest.mark.skipif(PYPY, reason="cloudpickle cannot pickle a class on PyPy")

sees_ignored_signals = pytest.mark.skipif(
    PYPY, reason="PyPy does not know which signals were ignored before it began"
)

words_of_cpython = pytest.mark.skipif(PYPY, reason="PyPy reports this in words of its own")
