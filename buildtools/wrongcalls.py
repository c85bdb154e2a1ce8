"""A call with wrong arguments is answered in the interpreter's words, not in Cython's.

Where the C source that Cython wrote has found that a function's arguments do not fit, it is
made to ask ``althaia/calls.h``. That is a matter of wording: a function of another form keeps
Cython's message.
"""

from __future__ import annotations

import re
from pathlib import Path

HEADER = Path("althaia/calls.h")

_PYTHON_HEADER = '#include "Python.h"\n'
# The clean-up after unpacking the arguments, which only a failure there reaches.
_ARGUMENTS_DO_NOT_FIT = re.compile(
    r"(^  __pyx_L3_error:;\n"
    r"  for \(Py_ssize_t __pyx_temp=0; [^}]*\}\n"
    r"(?:  __Pyx_(?:X?DECREF|CLEAR).*\n)*)"
    r'  __Pyx_AddTraceback\("[^"\n]*", __pyx_clineno, __pyx_lineno, __pyx_filename\);$',
    re.MULTILINE,
)


def worded(source: str) -> tuple[str, int]:
    """The C source that asks for the interpreter's words, and in how many functions it does."""
    text, places = _ARGUMENTS_DO_NOT_FIT.subn(r"\1  ALTHAIA_WRONG_CALL();", source)
    if not places:
        return source, 0
    include = f'{_PYTHON_HEADER}#include "{HEADER.as_posix()}"\n'
    return text.replace(_PYTHON_HEADER, include, 1), places


def word_file(path: Path) -> int:
    """Change one generated C file in place; returns the number of functions."""
    text, places = worded(path.read_text("utf-8"))
    path.write_text(text, "utf-8")
    return places
