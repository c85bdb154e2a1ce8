"""Every compiled function of upstream looks at the stack, and at times for signals, as it begins.

An interpreted function is counted by CPython's recursion limit; a compiled one runs on the C
stack, uncounted, and would end in a crash where upstream raises RecursionError. Which functions
recurse depends on the user's schemas and data, so none is left out. The same check lets signal
handlers and other threads run, for which interpreted code stops between bytecodes. It goes into
the C source that Cython wrote, once a function, where its Python-callable wrapper begins.
"""

from __future__ import annotations

import re
from pathlib import Path

from buildtools.errors import BuildError

HEADER = Path("althaia/cpython/stack.h")

_PYTHON_HEADER = '#include "Python.h"\n'
_WRAPPER_NAME = re.compile(r"^static PyObject \*(__pyx_pw_\w+)\(", re.MULTILINE)
_WRAPPER_START = re.compile(
    r'^  (?=__Pyx_RefNannySetupContext\("[^"\n]* \(wrapper\)", 0\);$)', re.MULTILINE
)


def checked(source: str, name: str) -> str:
    """The C source with a check at the start of every wrapper.

    :param source: what Cython wrote.
    :param name: the file's name, for the error.
    :raises BuildError: the source does not look as this stage was written for.
    """
    wrappers = set(_WRAPPER_NAME.findall(source))
    text, checks = _WRAPPER_START.subn("  ALTHAIA_CHECK ", source)
    if checks != len(wrappers) or source.count(_PYTHON_HEADER) != 1:
        raise BuildError(
            "inserting checks",
            f"{name} has {len(wrappers)} Python-callable functions and {checks} places for a check",
            "Cython's output has another form than buildtools/checks.py knows; adapt the "
            "patterns there to the pinned Cython, so that no compiled function stays unchecked",
        )
    include = f'{_PYTHON_HEADER}#include "{HEADER.as_posix()}"\n'
    return text.replace(_PYTHON_HEADER, include)


def insert(path: Path) -> None:
    """Put the checks into one generated C file, in place.

    :raises BuildError: as :func:`checked`.
    """
    path.write_text(checked(path.read_text(encoding="utf-8"), path.name), encoding="utf-8")
