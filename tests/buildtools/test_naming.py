"""Where the file names of compiled code are completed; what comes of it is tested in
tests/conformance/test_compiled_form.py and tests/packaging/test_wheel.py."""

from __future__ import annotations

import pytest

from buildtools.errors import BuildError
from buildtools.naming import named

SOURCE = """\
#include "Python.h"
static const char* const __pyx_f[] = {
  "althaia/plans/dump.pyx",
};
  if (__Pyx_CreateCodeObjects(__pyx_mstate) < (0)) __PYX_ERR(0, 1, __pyx_L1_error)
"""
NAME = "althaia/plans/dump.pyx"


def test_names_are_completed_before_code_objects_are_made() -> None:
    text = named(SOURCE, NAME)
    assert "static const char* __pyx_f[]" in text
    assert text.index("althaia_name_files(") < text.index("__Pyx_CreateCodeObjects(")
    assert "NULL) < 0)" in text
    with_code = SOURCE + "f(__pyx_mstate->__pyx_kp_u_althaia_plans_dump_pyx, x);\n"
    assert "&__pyx_mstate->__pyx_kp_u_althaia_plans_dump_pyx) < 0)" in named(with_code, NAME)


@pytest.mark.parametrize("place", ['#include "Python.h"', "const __pyx_f", "CreateCodeObjects"])
def test_another_form_stops_the_build(place: str) -> None:
    with pytest.raises(BuildError, match=r"buildtools/naming\.py knows"):
        named(SOURCE.replace(place, "other"), NAME)
