"""Where compiled code reports errors in the interpreter's words; what it says then is tested in
tests/conformance/test_compiled_form.py."""

from __future__ import annotations

import ast
import os
import re
import sysconfig

import pytest

from buildtools.errors import BuildError
from buildtools.layout import Layout
from buildtools.modules import compiled_modules
from buildtools.pipeline import is_pure
from buildtools.wording import check_messages, utility_code, worded

WRAPPER = """\
#include "Python.h"
static PyObject *__pyx_pw_dump(PyObject *__pyx_self) {
  __pyx_L3_error:;
  for (Py_ssize_t __pyx_temp=0; __pyx_temp < 2; ++__pyx_temp) {
    Py_XDECREF(values[__pyx_temp]);
  }
  __Pyx_DECREF(__pyx_v_kwargs); __pyx_v_kwargs = 0;
  __Pyx_AddTraceback("schema.dump", __pyx_clineno, __pyx_lineno, __pyx_filename);
  return NULL;
}
static PyObject *__pyx_pf_dump(PyObject *__pyx_self) {
  __pyx_L1_error:;
  __Pyx_AddTraceback("schema.dump", __pyx_clineno, __pyx_lineno, __pyx_filename);
  return NULL;
}
"""


def test_only_the_arguments_error_is_changed() -> None:
    text = worded(WRAPPER, "x.c")
    assert text.count("ALTHAIA_WRONG_CALL();") == 1
    assert text.index("ALTHAIA_WRONG_CALL();") < text.index("__pyx_L1_error")
    assert text.count("__Pyx_AddTraceback") == 1
    assert text.startswith('#include "Python.h"\n#include "althaia/cpython/wording.h"\n')


def test_iterating_is_asked_about_only_to_unpack() -> None:
    unpacks = "      Py_ssize_t index = -1;\n      __pyx_t_9 = PyObject_GetIter(__pyx_t_8);\n"
    loops = "    __pyx_t_4 = PyObject_GetIter(__pyx_t_3);\n"
    expected = unpacks.replace("PyObject_GetIter", "althaia_iterate_to_unpack") + loops
    assert worded(unpacks + loops, "x.c") == expected


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("for (Py_ssize_t __pyx_temp=0;", "for (int t=0;", "x.c: 1 ends of functions"),
        ("= PyObject_GetIter(", "= PyObject_Iter(", "x.c: 1 iterators to unpack, 0 of them"),
        ("MoreValuesError(size);", "MoreValuesError(n);", "x.c: 1 unpackings without"),
    ],
)
def test_a_place_of_another_form_stops_the_build(before: str, after: str, told: str) -> None:
    unpacks = (
        "      Py_ssize_t index = -1;\n      __pyx_t_9 = PyObject_GetIter(__pyx_t_8);\n"
        "      __Pyx_RaiseNeedMoreValuesError(size);\n"
    )
    source = WRAPPER + unpacks
    assert before in source
    worded(source, "x.c")
    with pytest.raises(BuildError, match=re.escape(told)):
        worded(source.replace(before, after), "x.c")


def test_messages_that_cython_no_longer_has_stop_the_build() -> None:
    pytest.importorskip("Cython", reason="only where the build's own tools are installed")
    check_messages(utility_code())
    with pytest.raises(BuildError, match="no longer say 'raise: exception class"):
        check_messages("")


def test_the_expected_number_is_found() -> None:
    sequence = (
        "        if (size > 3) __Pyx_RaiseTooManyValuesError(3);\n"
        "        else if (size >= 0) __Pyx_RaiseNeedMoreValuesError(size);\n"
    )
    iterator = (
        "      if (__Pyx_IternextUnpackEndCheck(__pyx_t_8(__pyx_t_7), 4) < (0)) goto bad;\n"
        "      goto done;\n"
        "      if (__Pyx_IterFinish() == 0) __Pyx_RaiseNeedMoreValuesError(index);\n"
    )
    pairs = "        __Pyx_RaiseNeedMoreValuesError(index);\n"
    text = worded(sequence + iterator + pairs, "x.c")
    assert "RaiseNeedMore" not in text
    for call in ("(3, size)", "(4, index)", "(2, index)"):
        assert f"althaia_too_few_to_unpack{call};" in text


def test_too_many_are_counted() -> None:
    sequence = "        if (size > 3) __Pyx_RaiseTooManyValuesError(3);\n"
    pair = "        __Pyx_RaiseTooManyValuesError(index);\n"
    iterator = "        __Pyx_RaiseTooManyValuesError(expected);\n"
    text = worded(sequence + pair + iterator, "x.c")
    assert "if (size > 3) althaia_too_many_to_unpack(3, size);" in text
    assert "althaia_too_many_to_unpack(index, size);" in text
    assert iterator in text
    with pytest.raises(BuildError, match="1 unpackings of too many values"):
        worded(sequence.replace("size > 3", "size >= 4"), "x.c")


@pytest.mark.skipif(is_pure(os.environ), reason="a pure build has no C sources")
def test_no_function_of_upstream_is_left_out(layout: Layout) -> None:
    """Counted in Python, found in C; a function that takes ``*args`` alone has no such place."""
    tag = sysconfig.get_config_var("EXT_SUFFIX").strip(".").rsplit(".", 1)[0]
    sources = layout.work / tag / "c"
    seen = 0
    for module in compiled_modules(layout):
        c_file = sources / module.source.with_suffix(".c")
        if not module.upstream or not c_file.is_file():
            continue
        tree = ast.parse((layout.root / module.source).read_text("utf-8"))
        functions = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef | ast.Lambda)
            and (node.args.args or node.args.kwonlyargs or node.args.kwarg)
        ]
        assert c_file.read_text("utf-8").count("ALTHAIA_WRONG_CALL();") == len(functions), module
        seen += 1
    assert seen > 5


def test_messages_that_stand_in_the_source() -> None:
    source = "PyErr_Format(e, \"local variable '%s' referenced before assignment\", name);"
    expected = "cannot access local variable '%s' where it is not associated with a value"
    assert worded(source, "x.c") == f'PyErr_Format(e, "{expected}", name);'
