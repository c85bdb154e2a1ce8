"""A wrong call of a compiled function is reported in the interpreter's words, not Cython's.

Test suites and people read ``Field.__init__() got an unexpected keyword argument 'missing'``. The
C source that Cython wrote is made to ask ``althaia/cpython/wording.h`` where a function has found
that its arguments do not fit. A place of another form than is known here stops the build.
"""

from __future__ import annotations

import re
from pathlib import Path

from buildtools.errors import BuildError

HEADER = Path("althaia/cpython/wording.h")

_PYTHON_HEADER = '#include "Python.h"\n'
# The clean-up after unpacking the arguments, which only a failure there reaches.
_ARGUMENTS_DO_NOT_FIT = re.compile(
    r"(^  __pyx_L3_error:;\n"
    r"  for \(Py_ssize_t __pyx_temp=0; [^}]*\}\n"
    r"(?:  __Pyx_(?:X?DECREF|CLEAR).*\n)*)"
    r'  __Pyx_AddTraceback\("[^"\n]*", __pyx_clineno, __pyx_lineno, __pyx_filename\);$',
    re.MULTILINE,
)
# How many there must be, by what stands around them whatever their own form.
_ARGUMENTS_END = r"(?m)^  __pyx_L3_error:;$"


def worded(source: str, name: str) -> str:
    """The C source, asking for the interpreter's words where arguments do not fit.

    :param source: what Cython wrote.
    :param name: the file's name, for the error.
    :raises BuildError: a place that reports such an error has another form than is known here.
    """
    text, known = _ARGUMENTS_DO_NOT_FIT.subn(r"\1  ALTHAIA_WRONG_CALL();", source)
    there = len(re.findall(_ARGUMENTS_END, text))
    if there != known:
        raise BuildError(
            "wording errors",
            f"{name}: {there} ends of functions whose arguments do not fit, {known} of them of a "
            "form that is known",
            "Cython's output has another form than buildtools/wording.py knows; adapt it there",
        )
    include = f'{_PYTHON_HEADER}#include "{HEADER.as_posix()}"\n'
    return text.replace(_PYTHON_HEADER, include, 1)


def word_file(path: Path) -> None:
    """Change one generated C file in place.

    :raises BuildError: as :func:`worded`.
    """
    path.write_text(worded(path.read_text("utf-8"), path.name), "utf-8")
