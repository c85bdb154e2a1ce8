"""Frames of compiled code say where their source lies, as those of an installed library do.

Into the C source that Cython wrote goes one call, before the module makes its code objects: it
completes the relative names there by the folder that the module was loaded from
(``althaia/filenames.h``).
"""

from __future__ import annotations

import re
from pathlib import Path

from buildtools.errors import BuildError

HEADER = Path("althaia/filenames.h")

_PYTHON_HEADER = '#include "Python.h"\n'
_NAMES = 'static const char* const __pyx_f[] = {\n  "'
_OWN_NAMES = 'static const char* __pyx_f[] = {\n  "'
_CODE_OBJECTS = "  if (__Pyx_CreateCodeObjects(__pyx_mstate) < (0)) "


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
                "Cython's output has another form than buildtools/naming.py knows; adapt it",
            )
    # The name as a Python object; modules without Python-callable functions have none.
    constant = f"__pyx_kp_u_{re.sub(r'[^0-9A-Za-z]', '_', name)}"
    used = f"__pyx_mstate->{constant}," in source
    call = (
        "  if (althaia_name_files(__pyx_mstate->__pyx_d, __pyx_f, "
        f"sizeof(__pyx_f) / sizeof(*__pyx_f), {f'&__pyx_mstate->{constant}' if used else 'NULL'}"
        ") < 0) __PYX_ERR(0, 1, __pyx_L1_error)\n"
    )
    include = f'{_PYTHON_HEADER}#include "{HEADER.as_posix()}"\n'
    return (
        source.replace(_PYTHON_HEADER, include)
        .replace(_NAMES, _OWN_NAMES)
        .replace(_CODE_OBJECTS, call + _CODE_OBJECTS)
    )


def name_file(path: Path, name: str) -> None:
    """Change one generated C file in place.

    :raises BuildError: as :func:`named`.
    """
    path.write_text(named(path.read_text("utf-8"), name), "utf-8")
