"""Hand Cython a text of upstream's modules that comes out as the interpreter's own would.

``isinstance(x, (str, bytes))`` would become a test of the C type, which does not believe
``__class__``; proxies (werkzeug's ``LocalProxy``, lazy strings) pretend through it. Cython knows
the builtin by its name, so the text it is given calls another name, which a ``.pxd`` beside it
declares to be the interpreter's own function. ``{**x}`` takes pairs in Cython, so ``x`` goes
through a function that refuses what is no mapping. And what the interpreter does to classes and
docstrings since 3.13 is written out. Lines stay where they are, and what ships and what tracebacks
show is the text as it was.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path

from buildtools.modules import CompiledModule

# What the interpreter calls, by the name it has in Python.
CALLED = {"isinstance": "PyObject_IsInstance"}
PREFIX = "_althaia_"

_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)

DECLARATIONS = "cdef extern from *:\n" + "".join(
    f'    bint {PREFIX}{name} "{function}"(object, object) except -1\n'
    for name, function in CALLED.items()
)
# The code of the interpreter's DICT_UPDATE.
DECLARATIONS += f'''\
cdef extern from *:
    """
    CYTHON_UNUSED static PyObject *{PREFIX}mapping(PyObject *value) {{
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
    object {PREFIX}mapping(object value)
'''


def faithful(text: str) -> str:
    """The text that Cython is to read in place of ``text``; lines stay where they are."""
    text = with_mappings(called_by_another_name(text))
    if sys.version_info >= (3, 13):
        text = with_class_facts(with_plain_docstrings(text))
    return text


def called_by_another_name(text: str) -> str:
    """Rename each call of a builtin named in :data:`CALLED`.

    >>> called_by_another_name("ok = isinstance(x, str)  # isinstance(")
    'ok = _althaia_isinstance(x, str)  # isinstance('
    """
    lines = text.splitlines(keepends=True)
    tokens = [
        token
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type not in {tokenize.NL, tokenize.COMMENT}
    ]
    around = zip([None, *tokens], tokens, tokens[1:], strict=False)
    places = [
        token.start
        for before, token, after in around
        if token.type == tokenize.NAME
        and token.string in CALLED
        and after.string == "("
        and (before is None or before.string not in {".", "def"})
    ]
    for row, column in reversed(places):
        line = lines[row - 1]
        lines[row - 1] = line[:column] + PREFIX + line[column:]
    return "".join(lines)


def with_mappings(text: str) -> str:
    """Let ``{**x}`` refuse what is no mapping, as the interpreter does.

    >>> with_mappings("{**x, 1: 2}")
    '{**_althaia_mapping(x), 1: 2}'
    """
    lines = text.splitlines(keepends=True)
    displays = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Dict)]
    for node in displays:
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                unpacked = ast.get_source_segment(text, value)
                line = lines[value.lineno - 1]
                changed = line.replace(f"**{unpacked}", f"**{PREFIX}mapping({unpacked})", 1)
                lines[value.lineno - 1] = changed
    return "".join(lines)


def with_plain_docstrings(text: str) -> str:
    """Take the indentation out of docstrings, as the interpreter does from 3.13 on."""
    lines = text.split("\n")
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, _DOCUMENTED) or ast.get_docstring(node, clean=False) is None:
            continue
        docstring = node.body[0]
        rows = range(docstring.lineno, docstring.end_lineno or docstring.lineno)
        value = ast.get_docstring(node, clean=False) or ""
        indents = [
            len(line) - len(line.lstrip(" ")) for line in value.split("\n")[1:] if line.strip()
        ]
        margin = min(indents, default=docstring.col_offset)
        for row in rows:
            line = lines[row]
            lines[row] = line[min(margin, len(line) - len(line.lstrip(" "))) :]
    return "\n".join(lines)


def with_class_facts(text: str) -> str:
    """Set, after the last line, what the interpreter notes in each class from 3.13 on."""
    facts = [
        f"{name}.__firstlineno__ = {line}; {name}.__static_attributes__ = {attributes!r}\n"
        for name, line, attributes in _classes(ast.parse(text).body, "")
    ]
    return text + ("" if text.endswith("\n") else "\n") + "".join(facts)


def _classes(body: Iterable[ast.stmt], prefix: str) -> Iterator[tuple[str, int, tuple[str, ...]]]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            line = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            yield f"{prefix}{node.name}", line, _assigned_to_self(node)
            yield from _classes(node.body, f"{prefix}{node.name}.")


def _assigned_to_self(node: ast.ClassDef) -> tuple[str, ...]:
    functions = (n for n in node.body if isinstance(n, ast.FunctionDef))
    assigned = {
        target.attr
        for function in functions
        for target in ast.walk(function)
        if isinstance(target, ast.Attribute)
        and isinstance(target.ctx, ast.Store)
        and isinstance(target.value, ast.Name)
        and target.value.id == "self"
    }
    return tuple(sorted(assigned))


def write(root: Path, folder: Path, modules: Iterable[CompiledModule]) -> None:
    """Write what Cython is to read: the same tree below ``folder``, and declarations in it."""
    for module in modules:
        copy = folder / module.source
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(faithful((root / module.source).read_text("utf-8")), "utf-8")
        copy.with_suffix(".pxd").write_text(DECLARATIONS, "utf-8")
        for parent in copy.relative_to(folder).parents[:-1]:
            (folder / parent / "__init__.py").touch()
