"""Faults of Cython's, mended in the C source that it wrote.

Each is a piece of Cython's own helpers (3.3.1), the same in every module that needs the helper; a
helper of another form stops the build, so that no fault comes back unseen.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from buildtools.errors import BuildError


@dataclass(frozen=True)
class Fault:
    """A piece of C and what it should be.

    :param marker: what every place that may have the fault contains.
    """

    what: str
    marker: str
    found: str
    instead: str


FAULTS = (
    Fault(
        "appending to a list comprehension gives the item away even where it fails, and the "
        "function that gave it does so once more: out of memory, an object is freed too early",
        "int result = PyList_Append(list, x);",
        """\
    int result = PyList_Append(list, x);
    Py_DECREF(x);
    return result;
""",
        """\
    int result = PyList_Append(list, x);
    if (likely(result == 0)) Py_DECREF(x);
    return result;
""",
    ),
    Fault(
        "a caught exception without a traceback (out of memory, none could be made) gives NULL, "
        "which `return` in an `except` clause and `with` take for an object",
        "    *tb = local_tb;\n",
        """\
    Py_XINCREF(local_tb);
    Py_XINCREF(local_type);
    Py_XINCREF(local_value);
    *type = local_type;
    *value = local_value;
    *tb = local_tb;
#if CYTHON_FAST_THREAD_STATE
""",
        """\
    if (unlikely(!local_tb)) { local_tb = Py_None; Py_INCREF(local_tb); }
    Py_INCREF(local_tb);
    Py_XINCREF(local_type);
    Py_XINCREF(local_value);
    *type = local_type;
    *value = local_value;
    *tb = local_tb;
#if CYTHON_FAST_THREAD_STATE
""",
    ),
    Fault(
        "which then may come back as the traceback of an exception that is raised again",
        "    tstate->curexc_value = value;\n    tstate->curexc_traceback = tb;\n",
        """\
    tstate->curexc_value = value;
    tstate->curexc_traceback = tb;
""",
        """\
    tstate->curexc_value = value;
    if (unlikely(tb == Py_None)) { Py_DECREF(tb); tb = NULL; }
    tstate->curexc_traceback = tb;
""",
    ),
    Fault(
        "CPython 3.11 fails without an exception where it has no memory for an interpreted frame, "
        "and so there is none to be caught",
        "PyObject *local_type = NULL, *local_value, *local_tb = NULL;",
        """\
    PyObject *local_type = NULL, *local_value, *local_tb = NULL;
#if CYTHON_FAST_THREAD_STATE
    PyObject *tmp_type, *tmp_value, *tmp_tb;
  #if PY_VERSION_HEX >= 0x030C0000
""",
        """\
    PyObject *local_type = NULL, *local_value, *local_tb = NULL;
#if CYTHON_FAST_THREAD_STATE
    PyObject *tmp_type, *tmp_value, *tmp_tb;
    if (unlikely(!PyErr_Occurred())) PyErr_NoMemory();
  #if PY_VERSION_HEX >= 0x030C0000
""",
    ),
    Fault(
        "nor one whose type could be asked for",
        "    if (likely(err == exc_type1 || err == exc_type2)) return 1;",
        """\
    if (likely(err == exc_type1 || err == exc_type2)) return 1;
    if (likely(PyExceptionClass_Check(err))) {
""",
        """\
    if (likely(err == exc_type1 || err == exc_type2)) return 1;
    if (unlikely(!err)) return 0;
    if (likely(PyExceptionClass_Check(err))) {
""",
    ),
    Fault(
        "nor one to be raised further",
        "    PyObject *ptype, *pvalue, *ptraceback;\n    if (c_line) {",
        "    PyObject *ptype, *pvalue, *ptraceback;\n    if (c_line) {",
        "    PyObject *ptype, *pvalue, *ptraceback;\n"
        "    if (unlikely(!PyErr_Occurred())) PyErr_NoMemory();\n    if (c_line) {",
    ),
    Fault(
        "out of memory for the code object of a traceback entry, the error itself is lost: an "
        "`except` clause that was chosen for it is given the MemoryError",
        "fetched exception references and propagate the new exception */",
        """\
fetched exception references and propagate the new exception */
            Py_XDECREF(ptype);
            Py_XDECREF(pvalue);
            Py_XDECREF(ptraceback);
            goto bad;
        }
        __Pyx_ErrRestoreInState(tstate, ptype, pvalue, ptraceback);
        __pyx_insert_code_object(c_line ? -c_line : py_line, py_code);
""",
        """\
fetched exception references: the error stands, without the entry */
            PyErr_Clear();
            __Pyx_ErrRestoreInState(tstate, ptype, pvalue, ptraceback);
            goto bad;
        }
        __Pyx_ErrRestoreInState(tstate, ptype, pvalue, ptraceback);
        __pyx_insert_code_object(c_line ? -c_line : py_line, py_code);
""",
    ),
    Fault(
        "the same for its frame and for the entry itself",
        "    PyTraceBack_Here(py_frame);\n",
        """\
    py_frame = PyFrame_New(
        tstate,            /*PyThreadState *tstate,*/
        py_code,           /*PyCodeObject *code,*/
        __pyx_mstate_global->__pyx_d,    /*PyObject *globals,*/
        0                  /*PyObject *locals*/
    );
    if (!py_frame) goto bad;
    __Pyx_PyFrame_SetLineNumber(py_frame, py_line);
    PyTraceBack_Here(py_frame);
""",
        """\
    __Pyx_ErrFetchInState(tstate, &ptype, &pvalue, &ptraceback);
    py_frame = PyFrame_New(tstate, py_code, __pyx_mstate_global->__pyx_d, 0);
    if (!py_frame) {
        PyErr_Clear();
        __Pyx_ErrRestoreInState(tstate, ptype, pvalue, ptraceback);
        goto bad;
    }
    Py_XINCREF(ptype);
    Py_XINCREF(pvalue);
    Py_XINCREF(ptraceback);
    __Pyx_ErrRestoreInState(tstate, ptype, pvalue, ptraceback);
    __Pyx_PyFrame_SetLineNumber(py_frame, py_line);
    if (likely(PyTraceBack_Here(py_frame) == 0)) {
        Py_XDECREF(ptype);
        Py_XDECREF(pvalue);
        Py_XDECREF(ptraceback);
    } else {
        PyErr_Clear();
        __Pyx_ErrRestoreInState(tstate, ptype, pvalue, ptraceback);
    }
""",
    ),
    Fault(
        "out of memory for the names of keyword arguments, places of the stack that nothing was "
        "put into are taken for objects and freed",
        "        kwnames = PyTuple_New(k_size);\n",
        """\
        kwnames = PyTuple_New(k_size);
        if (unlikely(!kwnames)) goto cleanup;
        __Pyx_BEGIN_CRITICAL_SECTION(k);
""",
        """\
        kwnames = PyTuple_New(k_size);
        if (unlikely(!kwnames)) { total_size = a_size; goto cleanup; }
        __Pyx_BEGIN_CRITICAL_SECTION(k);
""",
    ),
    Fault(
        "generators and functions that compiled code makes keep a reference to their type when "
        "they go, for ever",
        "#define __Pyx_PyHeapTypeObject_GC_Del(obj)  {",
        """\
#if CYTHON_USE_TYPE_SPECS
#define __Pyx_PyHeapTypeObject_GC_Del(obj)  {\\
""",
        """\
#if 1 /* These types are heap types however the module's own are made. */
#define __Pyx_PyHeapTypeObject_GC_Del(obj)  {\\
""",
    ),
    Fault(
        "`dict.get` borrows what it finds until it counts it: without the GIL another thread may "
        "free it in between",
        "    value = PyDict_GetItemWithError(d, key);\n",
        """\
    value = PyDict_GetItemWithError(d, key);
    if (unlikely(!value)) {
        if (unlikely(PyErr_Occurred()))
            return NULL;
        value = default_value;
    }
    Py_INCREF(value);
    if ((1));
""",
        """\
    if (unlikely(__Pyx_PyDict_GetItemRef(d, key, &value) < 0)) return NULL;
    if (!value) value = __Pyx_NewRef(default_value);
    if ((1));
""",
    ),
    Fault(
        "a loop over a dictionary does not notice that its keys are exchanged, as the "
        "interpreter's does: by counting them, here above the position",
        "PyDict_Next(iter_obj, ppos, ",
        """\
    if (unlikely(!PyDict_Next(iter_obj, ppos, &key, &value))) {
        return 0;
    }
""",
        """\
    if (sizeof(Py_ssize_t) < 8) {
        if (unlikely(!PyDict_Next(iter_obj, ppos, &key, &value))) return 0;
    } else {
        Py_ssize_t position = *ppos & (Py_ssize_t)0xffffffff;
        size_t seen = (size_t)*ppos >> 16 >> 16;
        if (unlikely(!PyDict_Next(iter_obj, &position, &key, &value))) return 0;
        if (unlikely(seen == (size_t)orig_length)) {
            PyErr_SetString(PyExc_RuntimeError, "dictionary keys changed during iteration");
            return -1;
        }
        *ppos = position | (Py_ssize_t)((seen + 1) << 16 << 16);
    }
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


def mended(source: str) -> str:
    """The C source without the faults.

    :raises BuildError: a fault's place has another form than is known here, or is to be written
        otherwise.

    >>> mended("    int result = 0;")
    '    int result = 0;'
    """
    if unchecked := _UNCHECKED.search(source):
        raise BuildError(
            "mending",
            f"an `isinstance` whose failure nobody notices: {unchecked[0]}",
            "write `isinstance(value, A) or isinstance(value, B)` instead of a tuple of classes",
        )
    for fault in FAULTS:
        if source.count(fault.found) != source.count(fault.marker):
            raise BuildError(
                "mending",
                f"a place of an unknown form where {fault.what}",
                "Cython's output has another form than buildtools/mending.py knows; see whether "
                "the pinned Cython still has the fault, and adapt or delete the entry there",
            )
        source = source.replace(fault.found, fault.instead)
    return _NEXT_OF_LIST.sub(_ENDS_WHERE_THE_LIST_DOES, source)


def mend_file(path: Path) -> None:
    """Change one generated C file in place.

    :raises BuildError: as :func:`mended`.
    """
    path.write_text(mended(path.read_text("utf-8")), "utf-8")
