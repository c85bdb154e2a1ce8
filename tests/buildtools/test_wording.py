"""Where compiled code reports errors in the interpreter's words; what it says then is tested in
tests/conformance/test_compiled_form.py."""

from __future__ import annotations

import ast
import os
import sysconfig

import pytest

from buildtools.layout import Layout
from buildtools.modules import compiled_modules
from buildtools.pipeline import is_pure
from buildtools.wording import worded

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
    text = worded(WRAPPER)
    assert text.count("ALTHAIA_WRONG_CALL();") == 1
    assert text.index("ALTHAIA_WRONG_CALL();") < text.index("__pyx_L1_error")
    assert text.count("__Pyx_AddTraceback") == 1
    assert text.startswith('#include "Python.h"\n#include "althaia/wording.h"\n')


def test_iterating_is_asked_about_only_to_unpack() -> None:
    unpacks = "      Py_ssize_t index = -1;\n      __pyx_t_9 = PyObject_GetIter(__pyx_t_8);\n"
    loops = "    __pyx_t_4 = PyObject_GetIter(__pyx_t_3);\n"
    expected = unpacks.replace("PyObject_GetIter", "althaia_iterate_to_unpack") + loops
    assert worded(unpacks + loops) == expected


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
    text = worded(sequence + iterator + pairs)
    assert "RaiseNeedMore" not in text
    for call in ("(3, size)", "(4, index)", "(2, index)"):
        assert f"althaia_too_few_to_unpack{call};" in text


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
    assert worded(source) == f'PyErr_Format(e, "{expected}", name);'
