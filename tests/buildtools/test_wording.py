"""Where compiled code reports errors in the interpreter's words; what it says then is tested in
tests/conformance/test_compiled_form.py."""

from __future__ import annotations

import ast
import os
import sysconfig

import pytest

from buildtools.errors import BuildError
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
    text = worded(WRAPPER, "x.c")
    assert text.count("ALTHAIA_WRONG_CALL();") == 1
    assert text.index("ALTHAIA_WRONG_CALL();") < text.index("__pyx_L1_error")
    assert text.count("__Pyx_AddTraceback") == 1
    assert text.startswith('#include "Python.h"\n#include "althaia/cpython/wording.h"\n')


def test_a_place_of_another_form_stops_the_build() -> None:
    with pytest.raises(BuildError, match="1 ends of functions"):
        worded(WRAPPER.replace("for (Py_ssize_t __pyx_temp=0;", "for (int t=0;"), "x.c")


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
