"""Hand Cython a text of upstream's modules that it cannot take shortcuts with.

``isinstance(x, (str, bytes))`` would become a test of the C type, which does not believe
``__class__``; proxies (werkzeug's ``LocalProxy``, lazy strings) pretend through it. Cython knows
the builtin by its name, so the text it is given calls another name, which a ``.pxd`` beside it
declares to be the interpreter's own function. Lines stay where they are, and what ships and what
tracebacks show is the text as it was.
"""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterable
from pathlib import Path

from buildtools.modules import CompiledModule

# What the interpreter calls, by the name it has in Python.
CALLED = {"isinstance": "PyObject_IsInstance"}
PREFIX = "_althaia_"

DECLARATIONS = "cdef extern from *:\n" + "".join(
    f'    bint {PREFIX}{name} "{function}"(object, object) except -1\n'
    for name, function in CALLED.items()
)


def faithful(text: str) -> str:
    """The text with each call of a builtin named in :data:`CALLED` renamed.

    >>> faithful("ok = isinstance(x, str)  # isinstance(")
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


def write(root: Path, folder: Path, modules: Iterable[CompiledModule]) -> None:
    """Write what Cython is to read: the same tree below ``folder``, and declarations in it."""
    for module in modules:
        copy = folder / module.source
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(faithful((root / module.source).read_text("utf-8")), "utf-8")
        copy.with_suffix(".pxd").write_text(DECLARATIONS, "utf-8")
        for parent in copy.relative_to(folder).parents[:-1]:
            (folder / parent / "__init__.py").touch()
