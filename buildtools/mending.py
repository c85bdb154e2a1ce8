"""Faults of Cython's, mended in the C source that it wrote.

Appending to a list comprehension gives the item away even where it fails, and the function that
gave it gives it away once more: out of memory, an object was freed too early (Cython 3.3.1).
"""

from __future__ import annotations

from pathlib import Path

_APPENDED = """\
    int result = PyList_Append(list, x);
    Py_DECREF(x);
    return result;
"""
_KEPT_ON_FAILURE = """\
    int result = PyList_Append(list, x);
    if (likely(result == 0)) Py_DECREF(x);
    return result;
"""


def mended(source: str) -> str:
    """The C source without the faults.

    >>> mended("    int result = 0;")
    '    int result = 0;'
    """
    return source.replace(_APPENDED, _KEPT_ON_FAILURE)


def mend_file(path: Path) -> None:
    """Change one generated C file in place."""
    path.write_text(mended(path.read_text("utf-8")), "utf-8")
