"""Is another library's code the code that was read when its reader was written?"""

from __future__ import annotations

import inspect
import io
import sys
import tokenize
from hashlib import sha256
from types import FunctionType
from typing import Any

_LAYOUT = (
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
)


def digest(source: str) -> str:
    """The digest of some Python source, whatever its comments and its layout.

    :raises tokenize.TokenError: it is no whole piece of source.

    >>> digest("x = 1  # one") == digest("x  =  1")
    True
    """
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    words = [token.string for token in tokens if token.type not in _LAYOUT]
    return sha256("\n".join(words).encode()).hexdigest()[:16]


def is_known(function: Any, digests: frozenset[str]) -> bool:
    """Whether a function's source is one that has been read.

    A function that is not written in Python, or whose source is not there, is not known.
    """
    if type(function) is not FunctionType:
        return False
    try:
        return digest(inspect.cleandoc("\n" + inspect.getsource(function))) in digests
    except (OSError, TypeError, SyntaxError, tokenize.TokenError):
        return False


def is_known_module(name: str, digests: frozenset[str]) -> bool:
    """Whether an imported module's source file, beside it where it is compiled, has been read."""
    file = getattr(sys.modules.get(name), "__file__", None)
    if not file:
        return False
    stem = file.removesuffix(".pyc").removesuffix(".py")
    if stem == file:
        # An extension module: package/module.cpython-311-x86_64-linux-gnu.so
        folder, _, base = file.replace("\\", "/").rpartition("/")
        stem = f"{folder}/{base.partition('.')[0]}"
    for suffix in (".py", ".pyx"):
        try:
            with open(stem + suffix, encoding="utf-8") as source:
                return sha256(source.read().encode()).hexdigest()[:16] in digests
        except OSError:
            continue
    return False
