"""Where the file names of compiled code are completed; what comes of it is tested in
tests/conformance/test_compiled_form.py and tests/packaging/test_wheel.py."""

from __future__ import annotations

import pytest

from buildtools.errors import BuildError
from buildtools.naming import named, with_interpreters_names

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


def test_names_are_completed_before_code_objects_are_made() -> None:
    text = named(SOURCE, NAME)
    assert "static const char* __pyx_f[]" in text
    assert text.index("althaia_name_files(") < text.index("__Pyx_CreateCodeObjects(")
    assert "constants[] = {NULL}" in text


def test_the_names_of_all_included_files_are_completed() -> None:
    text = named(SOURCE + CODE_OBJECT.format("run_dump") + CODE_OBJECT.format("run_load"), NAME)
    prefix = "&__pyx_mstate->__pyx_kp_u_althaia_run_"
    assert f"constants[] = {{{prefix}dump, {prefix}load, NULL}}" in text


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
def test_tracebacks_have_the_interpreters_names(given: str, shown: str) -> None:
    place = '__Pyx_AddTraceback("{}", __pyx_clineno, __pyx_lineno, __pyx_filename);'
    assert with_interpreters_names(place.format(given)) == place.format(shown)


@pytest.mark.parametrize("place", ['#include "Python.h"', "const __pyx_f", "CreateCodeObjects"])
def test_another_form_stops_the_build(place: str) -> None:
    with pytest.raises(BuildError, match=r"buildtools/naming\.py knows"):
        named(SOURCE.replace(place, "other"), NAME)
