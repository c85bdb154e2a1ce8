"""Errors that compiled code finds by itself are said in the interpreter's words, not Cython's.

The C source that Cython wrote is made to ask ``althaia/cpython/wording.h`` where a function has
found that its arguments do not fit, and where a value is unpacked; other messages are replaced
where they stand. A place of another form than is known here stops the build.
"""

from __future__ import annotations

import re
from importlib import resources
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
# Unpacking: into names, and (the helper for pairs) in a loop over ``.items()``.
_UNPACKING = (
    (r"(^ +Py_ssize_t index = -1;\n +\w+ = )PyObject_GetIter\(", r"\1althaia_iterate_to_unpack("),
    (r"(^ +iter = )PyObject_GetIter\(tuple\);", r"\1althaia_iterate_to_unpack(tuple);"),
    (
        r"(__Pyx_RaiseTooManyValuesError\((\d+)\);\n +else if \(size >= 0\) )"
        r"__Pyx_RaiseNeedMoreValuesError\(size\);",
        r"\1althaia_too_few_to_unpack(\2, size);",
    ),
    (
        r"(__Pyx_IternextUnpackEndCheck\(\w+\(\w+\), (\d+)\) < (?:[^\n]*\n){1,8}?"
        r" +if \(__Pyx_IterFinish\(\) == 0\) )__Pyx_RaiseNeedMoreValuesError\(index\);",
        r"\1althaia_too_few_to_unpack(\2, index);",
    ),
    (r"__Pyx_RaiseNeedMoreValuesError\((size|index)\);", r"althaia_too_few_to_unpack(2, \1);"),
    (
        r"(^ +if \(size > (\d+)\) )__Pyx_RaiseTooManyValuesError\(\2\);",
        r"\1althaia_too_many_to_unpack(\2, size);",
    ),
    (r"__Pyx_RaiseTooManyValuesError\(index\);", r"althaia_too_many_to_unpack(index, size);"),
)
# Cython would call ``dict()``, which takes pairs as well.
_UNPACKED_MAPPING = "__Pyx_PyObject_CallOneArg((PyObject*)&PyDict_Type, "
# How many of each there must be, by what stands around them whatever their own form.
_ARGUMENTS_END = r"(?m)^  __pyx_L3_error:;$"
_ASKED = r"ALTHAIA_WRONG_CALL\(\);"
_UNPACKED = r"Py_ssize_t index = -1;|__Pyx_unpack_tuple2_generic\([^;{]*\{"
_TOO_FEW = r"__Pyx_RaiseNeedMoreValuesError\((?!Py_ssize_t)"
# Where an iterator has ended, only that there are more is known.
_TOO_MANY = r"__Pyx_RaiseTooManyValuesError\((?!Py_ssize_t|expected)"
# Cython's words and the interpreter's.
_MESSAGES = {
    "raise: exception class must be a subclass of BaseException": (
        "exceptions must derive from BaseException"
    ),
    "local variable '%s' referenced before assignment": (
        "cannot access local variable '%s' where it is not associated with a value"
    ),
}


def worded(source: str, name: str) -> str:
    """The C source, asking for the interpreter's words where it has an error to report.

    :param source: what Cython wrote.
    :param name: the file's name, for the error.
    :raises BuildError: a place that reports such an error has another form than is known here.
    """
    text = _ARGUMENTS_DO_NOT_FIT.sub(r"\1  ALTHAIA_WRONG_CALL();", source)
    for found, instead in _UNPACKING:
        text = re.sub(found, instead, text, flags=re.MULTILINE)
    text = text.replace(_UNPACKED_MAPPING, "althaia_unpack_mapping(")
    for theirs, ours in _MESSAGES.items():
        text = text.replace(f'"{theirs}"', f'"{ours}"')
    for what, there, reached in (
        ("ends of functions whose arguments do not fit", _ARGUMENTS_END, _ASKED),
        ("iterators to unpack", _UNPACKED, r"= althaia_iterate_to_unpack\("),
    ):
        _check(name, what, len(re.findall(there, text)), len(re.findall(reached, text)))
    _check(name, "unpackings without enough values", len(re.findall(_TOO_FEW, text)), 0)
    _check(name, "unpackings of too many values", len(re.findall(_TOO_MANY, text)), 0)
    include = f'{_PYTHON_HEADER}#include "{HEADER.as_posix()}"\n'
    return text.replace(_PYTHON_HEADER, include, 1)


def _check(name: str, what: str, there: int, known: int) -> None:
    if there != known:
        raise BuildError(
            "wording errors",
            f"{name}: {there} {what}, {known} of them of a form that is known",
            "Cython's output has another form than buildtools/wording.py knows; adapt it there",
        )


def check_messages(utility_code: str) -> None:
    """Insist that Cython still says what :data:`_MESSAGES` replaces.

    :param utility_code: the C sources of Cython's helpers.
    :raises BuildError: a message is no longer among them.
    """
    for message in _MESSAGES:
        if f'"{message}"' not in utility_code:
            raise BuildError(
                "wording errors",
                f"Cython's helpers no longer say {message!r}",
                "look what they say now, and adapt _MESSAGES in buildtools/wording.py",
            )


def utility_code() -> str:
    """The C sources of the helpers of the Cython that is installed."""
    folder = resources.files("Cython") / "Utility"
    files = sorted(folder.iterdir(), key=lambda path: path.name)
    return "".join(path.read_text("utf-8") for path in files if path.name.endswith(".c"))


def word_file(path: Path) -> None:
    """Change one generated C file in place.

    :raises BuildError: as :func:`worded`.
    """
    path.write_text(worded(path.read_text("utf-8"), path.name), "utf-8")
