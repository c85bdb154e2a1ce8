"""Move a module from the ``marshmallow`` namespace to ``althaia.marshmallow``.

Works on tokens: only the dotted name of an import statement changes. Strings, docstrings
and messages stay upstream's, so that what users read and pickle does not change.
"""

from __future__ import annotations

import ast
import io
import tokenize

from buildtools.errors import BuildError
from buildtools.upstream import PACKAGE

TARGET = f"althaia.{PACKAGE}"


def rename(name: str, text: str) -> str:
    """Rewrite ``from marshmallow[.x] import ...``; relative imports need nothing.

    :param name: the file, for messages
    :raises BuildError: the file reaches its package in a way this stage does not know

    >>> rename("x.py", "from marshmallow.utils import missing\\n")
    'from althaia.marshmallow.utils import missing\\n'
    """
    _refuse_unknown_forms(name, text)
    lines = text.splitlines(keepends=True)
    for row, column in reversed(_package_names_in_imports(text)):
        line = lines[row - 1]
        lines[row - 1] = line[:column] + TARGET + line[column + len(PACKAGE) :]
    return "".join(lines)


def _package_names_in_imports(text: str) -> list[tuple[int, int]]:
    places = []
    statement_start, previous = True, ""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in {tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}:
            statement_start, previous = True, ""
            continue
        if token.type in {tokenize.NL, tokenize.COMMENT}:
            continue
        if previous == "from" and token.string == PACKAGE:
            places.append(token.start)
        previous = token.string if statement_start and token.string == "from" else ""
        statement_start = token.string in {";", ":"}
    return places


def _refuse_unknown_forms(name: str, text: str) -> None:
    for node in ast.walk(ast.parse(text, name)):
        if isinstance(node, ast.Import):
            names = [a.name for a in node.names if a.name.partition(".")[0] == PACKAGE]
            problem = f"import {names[0]}" if names else ""
        elif isinstance(node, ast.Call) and _imports_by_string(node):
            problem = ast.unparse(node)
        else:
            continue
        if problem:
            raise BuildError(
                f"{name}, line {node.lineno}",
                f"expected only 'from {PACKAGE}... import', found '{problem}'",
                "teach buildtools/rename.py this form, with a test",
            )


def _imports_by_string(call: ast.Call) -> bool:
    function = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if isinstance(call.func, ast.Name):
        function = call.func.id
    return function in {"import_module", "__import__", "find_spec", "reload"}
