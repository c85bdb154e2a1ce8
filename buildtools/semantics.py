"""Which of upstream's functions still mean what our analysers were written against.

A patch that applies proves nothing about meaning. ``vendor/marshmallow/semantics.toml``
holds a digest of every function, class body and module body of the release somebody read;
where today's source differs, the build says so in the build info and the plans decline
that kind.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path

from buildtools.errors import BuildError

Digests = dict[str, str]


def digests(sources: Mapping[str, str]) -> Digests:
    """Digest per qualified name, as in ``fields.Integer._validated``.

    Docstrings, comments and blank lines do not count; a class's own entry covers its header
    and the statements that are not methods, a module's own entry likewise.
    """
    found: Digests = {}
    for name, text in sources.items():
        module = name.removesuffix(".py").replace("/", ".")
        lines = text.split("\n")
        for qualname, rows in _units(ast.parse(text, name)):
            kept = [lines[row] for row in rows if lines[row].strip()]
            code = [line for line in kept if not line.lstrip().startswith("#")]
            key = f"{module}.{qualname}" if qualname else module
            found[key] = sha256("\n".join(code).encode()).hexdigest()[:16]
    return found


def differing(known: Mapping[str, str], present: Mapping[str, str]) -> list[str]:
    """Names whose meaning nobody has looked at: changed, new or gone."""
    return sorted(
        name for name in known.keys() | present.keys() if known.get(name) != present.get(name)
    )


def read(path: Path) -> Digests:
    """The recorded digests.

    :raises BuildError: the file is missing or malformed
    """
    try:
        table = tomllib.loads(path.read_text("utf-8"))
        return {str(name): str(value) for name, value in table["functions"].items()}
    except (OSError, KeyError, tomllib.TOMLDecodeError) as error:
        raise BuildError(
            str(path),
            f"no usable semantic lock ({error!r})",
            "restore it from version control; 'python -m buildtools semantics refresh' writes it",
        ) from error


def render(version: str, found: Mapping[str, str]) -> str:
    """The text of a semantic lock."""
    lines = [
        "# What upstream's code meant when the analysers were written against it.",
        "# Refresh only after reading each difference: 'python -m buildtools semantics diff'.",
        f'version = "{version}"',
        "",
        "[functions]",
    ]
    lines += [f'"{name}" = "{value}"' for name, value in sorted(found.items())]
    return "\n".join(lines) + "\n"


def _units(tree: ast.Module) -> Iterator[tuple[str, list[int]]]:
    yield "", sorted(_own_rows(tree.body, set()))
    yield from _nested(tree.body, "")


def _nested(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, list[int]]]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            header = set(range(_first_row(node), node.body[0].lineno - 1))
            yield prefix + node.name, sorted(_own_rows(node.body, header))
            yield from _nested(node.body, f"{prefix}{node.name}.")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            rows = set(_rows(node))
            if _is_docstring(node.body[0]):
                rows -= set(_rows(node.body[0]))
            yield prefix + node.name, sorted(rows)


def _own_rows(body: list[ast.stmt], rows: set[int]) -> set[int]:
    for position, node in enumerate(body):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if position == 0 and _is_docstring(node):
            continue
        rows |= set(_rows(node))
    return rows


def _is_docstring(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _rows(node: ast.stmt) -> range:
    return range(_first_row(node), node.end_lineno or node.lineno)


def _first_row(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(d.lineno for d in decorators)]) - 1
