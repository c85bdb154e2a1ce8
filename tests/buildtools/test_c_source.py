"""What is changed in the C source that Cython wrote: in texts, and in what was compiled."""

import ast
import subprocess
import sys

import pytest

from buildtools import c_source
from buildtools.errors import BuildError
from tests.buildtools.conftest import c_sources, needs_c


@needs_c
@pytest.mark.slow
@pytest.mark.parametrize("fault", c_source.FAULTS, ids=lambda fault: fault.marker.strip()[:30])
def test_the_fault_is_mended_in_what_was_compiled(layout, fault):
    """Where no module has the mended form any more, Cython may have mended it: delete the entry."""
    found = [fault.instead in source for _, source in c_sources(layout)]
    assert any(found)
    assert not any(fault.found in source for _, source in c_sources(layout))


def test_every_place_is_mended():
    for fault in c_source.FAULTS:
        assert fault.found not in fault.instead
        around = "" if fault.marker in fault.found else fault.marker
        text = f"before\n{around}{fault.found}between\n{around}{fault.found}after\n"
        expected = f"before\n{around}{fault.instead}between\n{around}{fault.instead}after\n"
        assert c_source.mended(text, "x.c") == expected


UNCHECKED = "x = PyObject_IsInstance(a, b); "


def test_a_source_without_faults_stays_as_it_is():
    checked = f"{UNCHECKED}if (unlikely(x == -1)) __PYX_ERR(0, 1, l)\n"
    for text in ("int x;\n", checked):
        assert c_source.mended(text, "x.c") == text


LOOP = """\
        __pyx_t_5 = __Pyx_PyList_GET_ITEM_REF(__pyx_t_2, __pyx_t_3, __Pyx_Sharing);
        ++__pyx_t_3;
"""


def test_a_loop_ends_where_its_list_does():
    mended = c_source.mended(LOOP, "x.c")
    assert mended.startswith(LOOP)
    assert "        if (unlikely(!__pyx_t_5)) { PyErr_Clear(); break; }\n" in mended
    assert c_source.mended(mended, "x.c") == mended


def test_cython_writes_loops_in_that_form(tmp_path):
    pytest.importorskip("Cython", reason="only where the build's own tools are installed")
    source = tmp_path / "loops.pyx"
    source.write_text(
        "def any_of(x):\n    for y in x: pass\n\ndef of(list x):\n    for y in x: pass\n"
    )
    subprocess.run([sys.executable, "-m", "cython", "-3", str(source)], check=True)
    mended = c_source.mended(source.with_suffix(".c").read_text("utf-8"), "x.c")
    assert mended.count("PyErr_Clear(); break; }\n") == 2


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


def test_each_wrapper_gets_one_check_and_the_file_one_header():
    text = c_source.checked(HEAD + FUNCTION.format(number=1) + FUNCTION.format(number=2), "mod.c")
    assert text.count("  ALTHAIA_CHECK __Pyx_RefNannySetupContext(") == 2
    assert text.count('ALTHAIA_CHECK __Pyx_RefNannySetupContext("f (wrapper)", 0);') == 2
    assert text.count('#include "althaia/cpython/stack.h"') == 1


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


def test_only_the_arguments_error_is_changed():
    text = c_source.worded(WRAPPER, "x.c")
    assert text.count("ALTHAIA_WRONG_CALL();") == 1
    assert text.index("ALTHAIA_WRONG_CALL();") < text.index("__pyx_L1_error")
    assert text.count("__Pyx_AddTraceback") == 1
    assert text.startswith('#include "Python.h"\n#include "althaia/cpython/wording.h"\n')


@needs_c
def test_no_function_of_upstream_is_left_out(layout):
    """Each function counted in Python has its place in C, but one that takes ``*args`` alone."""
    seen = 0
    for module, source in c_sources(layout):
        if not module.upstream:
            continue
        tree = ast.parse((layout.root / module.source).read_text("utf-8"))
        functions = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef | ast.Lambda)
            and (node.args.args or node.args.kwonlyargs or node.args.kwarg)
        ]
        assert source.count("ALTHAIA_WRONG_CALL();") == len(functions), module
        seen += 1
    assert seen > 5


SOURCE = """\
#include "Python.h"
static const char* const __pyx_f[] = {
  "althaia/engine/run/dump.pyx",
};
  if (__Pyx_CreateCodeObjects(__pyx_mstate) < (0)) __PYX_ERR(0, 1, __pyx_L1_error)
"""
NAME = "althaia/engine/run/dump.pyx"
CODE_OBJECT = (
    "tab[0] = __Pyx_PyCode_New(descr, varnames, __pyx_mstate->__pyx_kp_u_althaia_{}, x);\n"
)


def test_names_are_completed_before_code_objects_are_made():
    text = c_source.named(SOURCE, NAME)
    assert "static const char* __pyx_f[]" in text
    assert text.index("althaia_name_files(") < text.index("__Pyx_CreateCodeObjects(")
    assert "constants[] = {NULL}" in text
    # Those of all included files.
    included = CODE_OBJECT.format("run_dump") + CODE_OBJECT.format("run_load")
    prefix = "&__pyx_mstate->__pyx_kp_u_althaia_run_"
    constants = f"constants[] = {{{prefix}dump, {prefix}load, NULL}}"
    assert constants in c_source.named(SOURCE + included, NAME)


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("althaia.marshmallow.schema.Schema._do_load", "_do_load"),
        ("althaia.marshmallow.utils.get_value", "get_value"),
        ("althaia.marshmallow.fields.Enum.__init__.genexpr", "<genexpr>"),
        ("genexpr", "<genexpr>"),
        ("init althaia.marshmallow.schema", "<module>"),
    ],
)
def test_tracebacks_have_the_interpreters_names(given, shown):
    place = '__Pyx_AddTraceback("{}", __pyx_clineno, __pyx_lineno, __pyx_filename);'
    assert c_source.with_interpreters_names(place.format(given)) == place.format(shown)


ONE = HEAD + FUNCTION.format(number=1)
KNOWN = r"buildtools/c_source\.py knows"
STOPPED = [
    (c_source.mended, f"{UNCHECKED}\n", "nobody notices"),
    *(
        (c_source.mended, f"before {fault.marker} after", "unknown form")
        for fault in c_source.FAULTS
        if fault.marker != fault.found
    ),
    (c_source.checked, ONE.replace(" (wrapper)", ""), r"x\.c"),
    (c_source.checked, ONE.replace("static PyObject", "PyObject"), r"x\.c"),
    (c_source.checked, ONE.removeprefix(HEAD), r"x\.c"),
    (
        c_source.worded,
        WRAPPER.replace("for (Py_ssize_t __pyx_temp=0;", "for (int t=0;"),
        "1 ends of functions",
    ),
    *(
        (c_source.named, SOURCE.replace(place, "other"), KNOWN)
        for place in ('#include "Python.h"', "const __pyx_f", "CreateCodeObjects")
    ),
]


@pytest.mark.parametrize(("change", "text", "said"), STOPPED)
def test_an_unknown_form_stops_the_build(change, text, said):
    with pytest.raises(BuildError, match=said):
        change(text, "x.c")
