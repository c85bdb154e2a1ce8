"""Change the C source that Cython wrote, so that compiled code does what interpreted code would.

Each stage is a function from a text to a text. Where Cython's output has another form than a stage
was written for, the build stops, so that nothing is left out unseen. What each stage is for:

- ``checked``: an interpreted function is counted by CPython's recursion limit. A compiled one runs
  on the C stack, uncounted, and would crash where upstream raises RecursionError. Which functions
  recurse depends on the user's schemas and data, so each function of upstream checks the stack as
  it begins. The same check lets signal handlers and other threads run.
- ``worded``: a call of upstream's whose arguments do not fit is reported in the interpreter's
  words. Test suites match ``Field.__init__() got an unexpected keyword argument 'missing'``.
- ``named``: frames of compiled code name their source file by its full path, as those of an
  installed library do. Those of upstream's code have the names of its functions.
- ``mended``: Cython 3.3.1 has faults in its helpers, which are the same text in every module.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from buildtools.errors import BuildError

HEADERS = Path("althaia/cpython")
STACK, WORDING, FILENAMES = (HEADERS / f"{name}.h" for name in ("stack", "wording", "filenames"))
"""The headers that changed sources include: the first two those of upstream's modules only."""

_PYTHON_HEADER = '#include "Python.h"\n'


def change(path: Path, name: str, *, is_upstreams: bool) -> None:
    """Change one generated C file in place.

    :param name: the source file's name in it, relative to the root: ``althaia/…``
    :param is_upstreams: it is to behave like upstream's source
    :raises BuildError: Cython's output has another form than is known here
    """
    source = path.read_text("utf-8")
    if is_upstreams:
        source = with_interpreters_names(worded(checked(source, name), name))
    path.write_text(named(mended(source, name), name), "utf-8")


def mend(path: Path) -> None:
    """Mend the file with the helpers that all modules share, in place; raises as :func:`change`."""
    path.write_text(mended(path.read_text("utf-8"), path.name), "utf-8")


def _another_form(name: str, what: str) -> BuildError:
    return BuildError(
        "changing C sources",
        f"{name}: {what}",
        "Cython's output has another form than buildtools/c_source.py knows; adapt it there to the "
        "pinned Cython, and delete what that no longer needs",
    )


def _including(source: str, header: Path, name: str) -> str:
    if source.count(_PYTHON_HEADER) != 1:
        raise _another_form(name, f"{_PYTHON_HEADER.strip()} is not there once")
    return source.replace(_PYTHON_HEADER, f'{_PYTHON_HEADER}#include "{header.as_posix()}"\n')


_WRAPPER_NAME = re.compile(r"^static PyObject \*(__pyx_pw_\w+)\(", re.MULTILINE)
_WRAPPER_START = re.compile(
    r'^  (?=__Pyx_RefNannySetupContext\("[^"\n]* \(wrapper\)", 0\);$)', re.MULTILINE
)


def checked(source: str, name: str) -> str:
    """The C source with a check where the Python-callable wrapper of each function begins."""
    wrappers = set(_WRAPPER_NAME.findall(source))
    text, checks = _WRAPPER_START.subn("  ALTHAIA_CHECK ", source)
    if checks != len(wrappers):
        raise _another_form(name, f"{len(wrappers)} functions, {checks} places for a check")
    return _including(text, STACK, name)


# The clean-up after unpacking the arguments, which only a failure there reaches.
_ARGUMENTS_DO_NOT_FIT = re.compile(
    r"(^  __pyx_L3_error:;\n"
    r"  for \(Py_ssize_t __pyx_temp=0; [^}]*\}\n"
    r"(?:  __Pyx_(?:X?DECREF|CLEAR).*\n)*)"
    r'  __Pyx_AddTraceback\("[^"\n]*", __pyx_clineno, __pyx_lineno, __pyx_filename\);$',
    re.MULTILINE,
)
# How many there must be, by what stands around them whatever their own form.
_ARGUMENTS_END = re.compile(r"^  __pyx_L3_error:;$", re.MULTILINE)


def worded(source: str, name: str) -> str:
    """The C source, asking for the interpreter's words where arguments do not fit."""
    text, known = _ARGUMENTS_DO_NOT_FIT.subn(r"\1  ALTHAIA_WRONG_CALL();", source)
    there = len(_ARGUMENTS_END.findall(text))
    if there != known:
        raise _another_form(name, f"{there} ends of functions whose arguments do not fit")
    return _including(text, WORDING, name)


_NAMES = 'static const char* const __pyx_f[] = {\n  "'
_OWN_NAMES = 'static const char* __pyx_f[] = {\n  "'
_CODE_OBJECTS = "  if (__Pyx_CreateCodeObjects(__pyx_mstate) < (0)) "
# Where a code object is made: with the source file's name as a Python object.
_NAMED = re.compile(r"= __Pyx_PyCode_New\(descr, varnames, __pyx_mstate->(__pyx_kp_u_althaia_\w+),")
# What a traceback calls a function, and what the interpreter does.
_TRACEBACK = re.compile(r'(__Pyx_AddTraceback\(")([^"\n]*)"')


def named(source: str, name: str) -> str:
    """The C source, completing its file names when the module is loaded.

    One call before the module makes its code objects completes the relative names there by the
    folder that the module was loaded from.
    """
    for place in (f"{_NAMES}{name}", _CODE_OBJECTS):
        if source.count(place) != 1:
            raise _another_form(name, f"{place.strip()!r} is not there once")
    # Where the module keeps its files' names as objects; none if Python can call no function of it.
    constants = [f"&__pyx_mstate->{each}" for each in sorted(set(_NAMED.findall(source)))]
    call = (
        f"  {{ PyObject** constants[] = {{{', '.join([*constants, 'NULL'])}}};\n"
        "  if (althaia_name_files(__pyx_mstate->__pyx_d, __pyx_f, "
        "sizeof(__pyx_f) / sizeof(*__pyx_f), constants) < 0) "
        "__PYX_ERR(0, 1, __pyx_L1_error) }\n"
    )
    text = source.replace(_NAMES, _OWN_NAMES).replace(_CODE_OBJECTS, call + _CODE_OBJECTS)
    return _including(text, FILENAMES, name)


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


@dataclass(frozen=True)
class Fault:
    """A fault in Cython's helpers.

    :param what: what it does
    :param who: the user who notices it
    :param marker: a text that is in every place that may have the fault
    :param found: the faulty C
    :param instead: the C to take its place
    """

    what: str
    who: str
    marker: str
    found: str
    instead: str


_LIMITED = "a worker with a memory limit that catches MemoryError and goes on: it crashes"
_WITHOUT_GIL = "a server without the GIL whose threads share data"

FAULTS = (
    Fault(
        "appending to a list comprehension gives the item away even where it fails, and the "
        "function that gave it does so once more: out of memory, an object is freed too early",
        _LIMITED,
        "int result = PyList_Append(list, x);\n",
        "int result = PyList_Append(list, x);\n    Py_DECREF(x);",
        "int result = PyList_Append(list, x);\n    if (likely(result == 0)) Py_DECREF(x);",
    ),
    Fault(
        "a caught exception without a traceback (out of memory, none could be made) gives NULL, "
        "which `return` in an `except` clause and `with` take for an object",
        _LIMITED,
        "    *tb = local_tb;\n",
        "    Py_XINCREF(local_tb);\n    Py_XINCREF(local_type);\n",
        "    if (unlikely(!local_tb)) { local_tb = Py_None; Py_INCREF(local_tb); }\n"
        "    Py_INCREF(local_tb);\n    Py_XINCREF(local_type);\n",
    ),
    Fault(
        "which then may come back as the traceback of an exception that is raised again",
        _LIMITED,
        "    tstate->curexc_value = value;\n",
        "    tstate->curexc_value = value;\n    tstate->curexc_traceback = tb;\n",
        "    tstate->curexc_value = value;\n"
        "    if (unlikely(tb == Py_None)) { Py_DECREF(tb); tb = NULL; }\n"
        "    tstate->curexc_traceback = tb;\n",
    ),
    Fault(
        "CPython 3.11 fails without an exception where it has no memory for an interpreted frame, "
        "and so there is none to be caught",
        _LIMITED,
        "PyObject *local_type = NULL, *local_value, *local_tb = NULL;",
        "*local_tb = NULL;\n#if CYTHON_FAST_THREAD_STATE\n",
        "*local_tb = NULL;\n    if (unlikely(!PyErr_Occurred())) PyErr_NoMemory();\n"
        "#if CYTHON_FAST_THREAD_STATE\n",
    ),
    Fault(
        "nor one whose type could be asked for",
        _LIMITED,
        "    if (likely(err == exc_type1 || err == exc_type2)) return 1;\n",
        "err == exc_type2)) return 1;\n    if (likely(PyExceptionClass_Check(err))) {\n",
        "err == exc_type2)) return 1;\n    if (unlikely(!err)) return 0;\n"
        "    if (likely(PyExceptionClass_Check(err))) {\n",
    ),
    Fault(
        "nor one to be raised further",
        _LIMITED,
        "    PyObject *ptype, *pvalue, *ptraceback;\n    if (c_line) {",
        "    PyObject *ptype, *pvalue, *ptraceback;\n    if (c_line) {",
        "    PyObject *ptype, *pvalue, *ptraceback;\n"
        "    if (unlikely(!PyErr_Occurred())) PyErr_NoMemory();\n    if (c_line) {",
    ),
    Fault(
        "out of memory for the names of keyword arguments, places of the stack that nothing was "
        "put into are taken for objects and freed",
        _LIMITED,
        "kwnames = PyTuple_New(k_size);\n",
        "        if (unlikely(!kwnames)) goto cleanup;\n",
        "        if (unlikely(!kwnames)) { total_size = a_size; goto cleanup; }\n",
    ),
    Fault(
        "float() takes text with an underscore behind the sign of an exponent, as in 1e+_5",
        "a service whose clients send such text as a number: it must be refused",
        "buffer += (chr != '_');",
        "buffer += (chr != '_');",
        "if (chr == '_') return NULL; /* CPython's float() reads it. */\n        buffer++;",
    ),
    Fault(
        "generators and functions that compiled code makes keep a reference to their type when "
        "they go, for ever",
        "a developer who looks for a leak of the application's by counting references",
        "#define __Pyx_PyHeapTypeObject_GC_Del(obj)  {",
        "#if CYTHON_USE_TYPE_SPECS\n#define __Pyx_PyHeapTypeObject_GC_Del(obj)  {",
        "#if 1 /* These types are heap types however the module's own are made. */\n"
        "#define __Pyx_PyHeapTypeObject_GC_Del(obj)  {",
    ),
    Fault(
        "`dict.get` borrows what it finds until it counts it: without the GIL another thread may "
        "free it in between",
        _WITHOUT_GIL,
        "    value = PyDict_GetItemWithError(d, key);\n",
        """\
    value = PyDict_GetItemWithError(d, key);
    if (unlikely(!value)) {
        if (unlikely(PyErr_Occurred()))
            return NULL;
        value = default_value;
    }
    Py_INCREF(value);
""",
        """\
    if (unlikely(__Pyx_PyDict_GetItemRef(d, key, &value) < 0)) return NULL;
    if (!value) value = __Pyx_NewRef(default_value);
""",
    ),
)

# Without the GIL a loop over a list that another thread shortens raises IndexError between asking
# for its length and for the item; the interpreter's loop ends.
_NEXT_OF_LIST = re.compile(
    r"^(?P<indent> *)(?P<item>\w+) = __Pyx_PyList_GET_ITEM_REF\(\w+, (?P<index>\w+), [^;]*\);\n"
    r" *\+\+(?P=index);\n(?! *#ifdef Py_GIL_DISABLED\n)",
    re.M,
)
_ENDS_WHERE_THE_LIST_DOES = r"""\g<0>\g<indent>#ifdef Py_GIL_DISABLED
\g<indent>if (unlikely(!\g<item>)) { PyErr_Clear(); break; }
\g<indent>#endif
"""

# Of `isinstance(value, (A, B))`, where A and B are looked up, nobody asks whether it failed.
_UNCHECKED = re.compile(r"= PyObject_IsInstance\([^;]*\); *$", re.M)


def mended(source: str, name: str) -> str:
    """The C source without the faults.

    >>> mended("    int result = 0;", "x.c")
    '    int result = 0;'
    """
    if unchecked := _UNCHECKED.search(source):
        raise BuildError(
            "changing C sources",
            f"{name}: an `isinstance` whose failure nobody notices: {unchecked[0]}",
            "write `isinstance(value, A) or isinstance(value, B)` instead of a tuple of classes",
        )
    for fault in FAULTS:
        if source.count(fault.found) != source.count(fault.marker):
            raise _another_form(name, f"a place of an unknown form where {fault.what}")
        source = source.replace(fault.found, fault.instead)
    return _NEXT_OF_LIST.sub(_ENDS_WHERE_THE_LIST_DOES, source)
