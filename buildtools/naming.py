"""Frames of compiled code say where their source lies, as those of an installed library do, and
those of upstream's code have the names of its functions.

Into the C source that Cython wrote goes one call, before the module makes its code objects: it
completes the relative names there by the folder that the module was loaded from
(``althaia/cpython/filenames.h``).
"""

from __future__ import annotations

import re
from pathlib import Path

from buildtools.errors import BuildError

HEADER = Path("althaia/cpython/filenames.h")

_PYTHON_HEADER = '#include "Python.h"\n'
_NAMES = 'static const char* const __pyx_f[] = {\n  "'
_OWN_NAMES = 'static const char* __pyx_f[] = {\n  "'
_CODE_OBJECTS = "  if (__Pyx_CreateCodeObjects(__pyx_mstate) < (0)) "
_ANOTHER_FORM = "Cython's output has another form than buildtools/naming.py knows; adapt it"
# Where a code object is made: with the source file's name as a Python object.
_NAMED = re.compile(r"= __Pyx_PyCode_New\(descr, varnames, __pyx_mstate->(__pyx_kp_u_althaia_\w+),")
# What a traceback calls a function, and what the interpreter does.
_TRACEBACK = re.compile(r'(__Pyx_AddTraceback\(")([^"\n]*)"')


def named(source: str, name: str) -> str:
    """The C source, completing its file names when the module is loaded.

    :param source: what Cython wrote.
    :param name: the source file's name in it, relative to the root: ``althaia/…``.
    :raises BuildError: the source does not look as this stage was written for.
    """
    places = (_PYTHON_HEADER, f"{_NAMES}{name}", _CODE_OBJECTS)
    for place in places:
        if source.count(place) != 1:
            raise BuildError(
                "naming files",
                f"{name} has {source.count(place)} places like {place.strip()!r}, expected 1",
                _ANOTHER_FORM,
            )
    # Where the module keeps its files' names as objects; none if Python can call no function of it.
    constants = [f"&__pyx_mstate->{each}" for each in sorted(set(_NAMED.findall(source)))]
    call = (
        f"  {{ PyObject** constants[] = {{{', '.join([*constants, 'NULL'])}}};\n"
        "  if (althaia_name_files(__pyx_mstate->__pyx_d, __pyx_f, "
        "sizeof(__pyx_f) / sizeof(*__pyx_f), constants) < 0) "
        "__PYX_ERR(0, 1, __pyx_L1_error) }\n"
    )
    include = f'{_PYTHON_HEADER}#include "{HEADER.as_posix()}"\n'
    return (
        source.replace(_PYTHON_HEADER, include)
        .replace(_NAMES, _OWN_NAMES)
        .replace(_CODE_OBJECTS, call + _CODE_OBJECTS)
    )


def with_interpreters_names(source: str) -> str:
    """The C source, in whose tracebacks a function has the name that it was defined with.

    >>> with_interpreters_names('__Pyx_AddTraceback("althaia.marshmallow.schema.Schema.load", ')
    '__Pyx_AddTraceback("load", '
    """
    return _TRACEBACK.sub(lambda place: f'{place[1]}{_shown(place[2])}"', source)


def _shown(name: str) -> str:
    if name.startswith("init "):
        return "<module>"
    last = name.rpartition(".")[2]
    return f"<{last}>" if last in ("genexpr", "lambda") else last


def name_file(path: Path, name: str, *, is_upstreams: bool) -> None:
    """Change one generated C file in place.

    :param is_upstreams: its tracebacks are to be those of upstream's source.
    :raises BuildError: as :func:`named`.
    """
    source = named(path.read_text("utf-8"), name)
    path.write_text(with_interpreters_names(source) if is_upstreams else source, "utf-8")
