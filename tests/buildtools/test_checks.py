"""Every compiled function of upstream begins with a look at the stack."""

from __future__ import annotations

import pytest

from buildtools.checks import checked
from buildtools.errors import BuildError

FUNCTION = """\
static PyObject *__pyx_pw_3mod_{number}f(PyObject *__pyx_self, PyObject *__pyx_v_x); /*proto*/
static PyObject *__pyx_pw_3mod_{number}f(PyObject *__pyx_self, PyObject *__pyx_v_x) {{
  PyObject *__pyx_r = 0;
  __Pyx_RefNannyDeclarations
  __Pyx_RefNannySetupContext("f (wrapper)", 0);
  __pyx_r = __pyx_pf_3mod_f(__pyx_self);
  return __pyx_r;
}}

static PyObject *__pyx_pf_3mod_f(PyObject *__pyx_self) {{
  __Pyx_RefNannyDeclarations
  __Pyx_RefNannySetupContext("f", 0);
}}
"""
HEAD = '#include "Python.h"\n'


def test_each_wrapper_gets_one_check_and_the_file_one_header() -> None:
    text = checked(HEAD + FUNCTION.format(number=1) + FUNCTION.format(number=2), "mod.c")
    assert text.count("  ALTHAIA_CHECK __Pyx_RefNannySetupContext(") == 2
    assert text.count('ALTHAIA_CHECK __Pyx_RefNannySetupContext("f (wrapper)", 0);') == 2
    assert text.count('#include "althaia/cpython/stack.h"') == 1


@pytest.mark.parametrize(
    "source",
    [
        HEAD + FUNCTION.format(number=1).replace(" (wrapper)", ""),
        HEAD + FUNCTION.format(number=1).replace("static PyObject *__pyx_pw", "PyObject *__pyx_pw"),
        FUNCTION.format(number=1),
    ],
    ids=["no place for a check", "no wrapper known", "no header to include after"],
)
def test_a_form_it_does_not_know_stops_the_build(source: str) -> None:
    with pytest.raises(BuildError, match=r"mod\.c"):
        checked(source, "mod.c")
