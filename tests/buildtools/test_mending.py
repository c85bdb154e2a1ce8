"""Faults of Cython's: still there in the pinned version, and gone from what is compiled."""

from __future__ import annotations

from importlib import resources

import pytest

from buildtools import mending


def utility_code() -> str:
    cython = pytest.importorskip("Cython", reason="only where the build's own tools are installed")
    folder = resources.files(cython) / "Utility"
    return "".join(
        path.read_text("utf-8")
        for path in sorted(folder.iterdir(), key=lambda path: path.name)
        if path.name.endswith(".c")
    )


def test_the_fault_is_there_to_be_mended() -> None:
    """Where this fails, Cython has mended it: delete buildtools/mending.py."""
    source = utility_code()
    before = "int result = PyList_Append(list, x);\n    Py_DECREF(x);"
    assert before in source
    assert before not in mending.mended(source)
    assert mending.mended(mending.mended(source)) == mending.mended(source)
