"""``import althaia`` is enough to use its modules; none is loaded before."""

from __future__ import annotations

import pytest

import althaia
from tests.engine import NEEDS_ENGINE
from tests.redirect.processes import program


@pytest.mark.parametrize("name", ["json", pytest.param("msgpack", marks=NEEDS_ENGINE), "bulk"])
def test_a_module_is_there_when_somebody_asks(name, tmp_path):
    printed = program(
        f"""
        import sys, althaia
        print("althaia.{name}" in sys.modules)
        print(althaia.{name}.__name__)
        """,
        cwd=tmp_path,
    )
    assert printed.split() == ["False", f"althaia.{name}"]
    assert name in dir(althaia)
