"""Faults of Cython's: still there in the pinned version, and gone from what is compiled."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

from buildtools import mending
from buildtools.errors import BuildError
from buildtools.layout import Layout
from buildtools.modules import compiled_modules
from buildtools.pipeline import is_pure

pytestmark = pytest.mark.slow

needs_c = pytest.mark.skipif(is_pure(os.environ), reason="a pure build has no C sources")


def sources(layout: Layout) -> Iterator[str]:
    tag = sysconfig.get_config_var("EXT_SUFFIX").strip(".").rsplit(".", 1)[0]
    for module in compiled_modules(layout):
        path = (layout.work / tag / "c" / module.source).with_suffix(".c")
        if path.is_file():
            yield path.read_text("utf-8")


@needs_c
@pytest.mark.parametrize("fault", mending.FAULTS, ids=lambda fault: fault.marker.strip()[:30])
def test_the_fault_is_mended_in_what_was_compiled(layout: Layout, fault: mending.Fault) -> None:
    """Where no module has the mended form any more, Cython may have mended it: delete the entry."""
    found = [fault.instead in source for source in sources(layout)]
    assert any(found)
    assert not any(fault.found in source for source in sources(layout))


def test_every_place_is_mended() -> None:
    for fault in mending.FAULTS:
        assert fault.marker in fault.found
        assert fault.found not in fault.instead
        text = f"before\n{fault.found}between\n{fault.found}after\n"
        expected = f"before\n{fault.instead}between\n{fault.instead}after\n"
        assert mending.mended(text) == expected


def test_a_place_of_another_form_stops_the_build() -> None:
    for fault in mending.FAULTS:
        if fault.marker == fault.found:
            continue
        with pytest.raises(BuildError, match="unknown form"):
            mending.mended(f"before {fault.marker} after")


def test_an_unchecked_isinstance_stops_the_build() -> None:
    checked = "x = PyObject_IsInstance(a, b); if (unlikely(x == -1)) __PYX_ERR(0, 1, l)\n"
    assert mending.mended(checked) == checked
    with pytest.raises(BuildError, match="nobody notices"):
        mending.mended("x = PyObject_IsInstance(a, b); \n")


def test_a_source_without_faults_stays_as_it_is() -> None:
    assert mending.mended("int x;\n") == "int x;\n"


LOOP = """\
        __pyx_t_5 = __Pyx_PyList_GET_ITEM_REF(__pyx_t_2, __pyx_t_3, __Pyx_Sharing);
        ++__pyx_t_3;
"""


def test_a_loop_ends_where_its_list_does() -> None:
    mended = mending.mended(LOOP)
    assert mended.startswith(LOOP)
    assert "        if (unlikely(!__pyx_t_5)) { PyErr_Clear(); break; }\n" in mended
    assert mending.mended(mended) == mended


def test_cython_writes_loops_in_that_form(tmp_path: Path) -> None:
    pytest.importorskip("Cython", reason="only where the build's own tools are installed")
    source = tmp_path / "loops.pyx"
    source.write_text(
        "def any_of(x):\n    for y in x: pass\n\ndef of(list x):\n    for y in x: pass\n"
    )
    subprocess.run([sys.executable, "-m", "cython", "-3", str(source)], check=True)
    mended = mending.mended(source.with_suffix(".c").read_text("utf-8"))
    assert mended.count("PyErr_Clear(); break; }\n") == 2
