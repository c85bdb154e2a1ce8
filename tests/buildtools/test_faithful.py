"""What Cython made of upstream: nothing decided by C types that upstream decides by objects."""

import ast
import re

import pytest

from buildtools.faithful import called_by_another_name, with_class_lines
from tests.buildtools.conftest import c_sources, needs_c


def sources(layout):
    """Upstream's modules as Python, and the body of their C source without Cython's helpers."""
    for module, text in c_sources(layout):
        if module.upstream:
            start = text.index("/* #### Code section: module_code ### */")
            end = text.index("/* #### Code section:", start + 10)
            yield ast.parse((layout.root / module.source).read_text("utf-8")), text[start:end]


def calls(tree, name):
    return sum(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name
        for node in ast.walk(tree)
    )


@needs_c
def test_isinstance_is_called_wherever_upstream_calls_it(layout):
    seen = 0
    for tree, body in sources(layout):
        expected = calls(tree, "isinstance")
        assert len(re.findall(r"= PyObject_IsInstance\(", body)) == expected
        assert (
            re.search(r"= (PyObject_TypeCheck|Py(Unicode|Bytes|Dict|List)_Check)\(", body) is None
        )
        seen += expected
    assert seen > 20


@needs_c
def test_no_value_is_required_to_be_of_a_builtin_type(layout):
    refusals = re.compile(r"__Pyx_RaiseUnexpectedTypeError|Expected %\.|__Pyx_ArgTypeTest\(")
    modules = 0
    for _, body in sources(layout):
        assert refusals.search(body) is None
        modules += 1
    assert modules > 5


def test_calls_are_renamed_and_nothing_else():
    text = (
        '"""isinstance(x, y)"""\n'
        "a = isinstance(x, y) and not isinstance (x, z)  # isinstance(\n"
        "b = other.isinstance(x); c = isinstance\n"
        "def isinstance(x): pass\n"
    )
    called = "_althaia_isinstance"
    assert called_by_another_name(text) == text.replace(
        "a = isinstance(x, y) and not isinstance (", f"a = {called}(x, y) and not {called} ("
    )


@pytest.mark.slow
def test_lines_stay_where_they_are(pinned):
    for name in pinned.modules:
        before = pinned.text(name)
        called = called_by_another_name(before)
        assert called.replace("_althaia_", "") == before
        assert with_class_lines(before).startswith(before)


def test_lines_are_those_of_the_class():
    text = (
        "def mark(cls): return cls\n"
        "@mark\n"
        "class Box:\n"
        "    def f(self): pass\n"
        "    class Meta: pass\n"
    )
    assert with_class_lines(text) == text + (
        "Box.__firstlineno__ = 2\nBox.Meta.__firstlineno__ = 5\n"
    )
