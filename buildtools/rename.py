"""Move a module from the ``marshmallow`` namespace to ``althaia.marshmallow``.

Only the dotted name of an import statement changes. Strings, docstrings and messages stay
upstream's, so that what users read and pickle does not change.
"""

from __future__ import annotations

import ast

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
    lines = text.splitlines(keepends=True)
    for node in ast.walk(ast.parse(text, name)):
        problem = ""
        if isinstance(node, ast.ImportFrom):
            if node.level == 0 and _is_package(node.module or ""):
                row, column = node.lineno - 1, node.col_offset
                head, tail = lines[row][:column], lines[row][column:]
                lines[row] = head + tail.replace(PACKAGE, TARGET, 1)
        elif isinstance(node, ast.Import):
            names = [each.name for each in node.names if _is_package(each.name)]
            problem = f"import {names[0]}" if names else ""
        if problem:
            raise BuildError(
                f"{name}, line {getattr(node, 'lineno', 0)}",
                f"expected only 'from {PACKAGE}... import', found '{problem}'",
                "teach buildtools/rename.py this form, with a test",
            )
    return "".join(lines)


def _is_package(module: str) -> bool:
    return module.partition(".")[0] == PACKAGE
