"""Hand Cython a text of upstream's modules that comes out as the interpreter's own would.

``isinstance(x, (str, bytes))`` would become a test of the C type, which does not believe
``__class__``; proxies (werkzeug's ``LocalProxy``, lazy strings) pretend through it. Cython knows
the builtin by its name, so the text it is given calls another name, which a ``.pxd`` beside it
declares to be the interpreter's own function. ``{**x}`` takes pairs in Cython, so ``x`` goes
through a function that refuses what is no mapping. And the line that the interpreter notes in each
class since 3.13 is written out. Lines stay where they are, and what ships and what tracebacks show
is the text as it was.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from buildtools.modules import CompiledModule

CALLED = "_althaia_isinstance"
MAPPING = "_althaia_mapping"
# The second has the code of the interpreter's DICT_UPDATE.
DECLARATIONS = f'''\
cdef extern from *:
    bint {CALLED} "PyObject_IsInstance"(object, object) except -1
cdef extern from *:
    """
    CYTHON_UNUSED static PyObject *{MAPPING}(PyObject *value) {{
        PyObject *copy = PyDict_New();
        if (copy != NULL && PyDict_Update(copy, value) < 0) {{
            Py_CLEAR(copy);
            if (PyErr_ExceptionMatches(PyExc_AttributeError))
                PyErr_Format(
                    PyExc_TypeError, "'%.200s' object is not a mapping", Py_TYPE(value)->tp_name);
        }}
        return copy;
    }}
    """
    object {MAPPING}(object value)
'''


def faithful(text: str) -> str:
    """The text that Cython is to read in place of ``text``; lines stay where they are."""
    text = with_mappings(called_by_another_name(text))
    return with_class_lines(text) if sys.version_info >= (3, 13) else text


def called_by_another_name(text: str) -> str:
    """Rename ``isinstance`` wherever it is called.

    >>> called_by_another_name("ok = isinstance(x, str)  # isinstance(")
    'ok = _althaia_isinstance(x, str)  # isinstance('
    """
    lines = text.encode().splitlines(keepends=True)
    places = [
        (node.func.lineno, node.func.col_offset, node.func.end_col_offset)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "isinstance"
    ]
    for row, start, end in sorted(places, reverse=True):
        line = lines[row - 1]
        lines[row - 1] = line[:start] + CALLED.encode() + line[end:]
    return b"".join(lines).decode()


def with_mappings(text: str) -> str:
    """Let ``{**x}`` refuse what is no mapping, as the interpreter does.

    >>> with_mappings("{**x, 1: 2}")
    '{**_althaia_mapping(x), 1: 2}'
    """
    lines = text.splitlines(keepends=True)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Dict):
            for value in (v for k, v in zip(node.keys, node.values, strict=True) if k is None):
                given, row = ast.get_source_segment(text, value), value.lineno - 1
                lines[row] = lines[row].replace(f"**{given}", f"**{MAPPING}({given})", 1)
    return "".join(lines)


def with_class_lines(text: str) -> str:
    """Set, after the last line, where each class begins: ``inspect.getsource`` reads it."""
    facts = [f"{name}.__firstlineno__ = {line}\n" for name, line in _classes(ast.parse(text), "")]
    return text + ("" if text.endswith("\n") else "\n") + "".join(facts)


def _classes(within: ast.Module | ast.ClassDef, prefix: str) -> Iterator[tuple[str, int]]:
    for node in within.body:
        if isinstance(node, ast.ClassDef):
            name = f"{prefix}{node.name}"
            yield name, min([node.lineno, *(d.lineno for d in node.decorator_list)])
            yield from _classes(node, f"{name}.")


def write(root: Path, folder: Path, modules: Iterable[CompiledModule]) -> None:
    """Write what Cython is to read: the same tree below ``folder``, and declarations in it."""
    for module in modules:
        copy = folder / module.source
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(faithful((root / module.source).read_text("utf-8")), "utf-8")
        copy.with_suffix(".pxd").write_text(DECLARATIONS, "utf-8")
        for parent in copy.relative_to(folder).parents[:-1]:
            (folder / parent / "__init__.py").touch()
