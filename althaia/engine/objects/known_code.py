"""Checks that another library's code is the code for which a reader was written.

Sources are read through the modules' loaders, because a test may have replaced ``open()`` or
``os.stat`` and count the calls.
"""

from __future__ import annotations

import inspect
import io
import sys
import tokenize
from functools import lru_cache
from importlib.util import decode_source
from types import FunctionType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_LAYOUT = (
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
)
# Two numbers that no token has, where the interpreter's tokens have none.
_F_STRING_BEGINS: int = getattr(tokenize, "FSTRING_START", -1)
_F_STRING_ENDS: int = getattr(tokenize, "FSTRING_END", -2)


def digest(source: str) -> str:
    """Return the digest of Python source without its comments and its layout.

    :raises tokenize.TokenError: the source is incomplete.

    >>> digest("x = 1  # one") == digest("x  =  1")
    True
    """
    return _short_hash("\n".join(_words(source)).encode())


def _words(source: str) -> Iterator[str]:
    """The tokens that have a meaning. An f-string is one token, as before CPython 3.12."""
    lines = source.splitlines(keepends=True)
    begins: list[tuple[int, int]] = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == _F_STRING_BEGINS:
            begins.append(token.start)
        elif token.type == _F_STRING_ENDS:
            begin = begins.pop()
            if not begins:
                yield _text(lines, begin, token.end)
        elif not begins and token.type not in _LAYOUT:
            yield token.string


def _text(lines: list[str], begin: tuple[int, int], end: tuple[int, int]) -> str:
    """Return what stands between two places, each a line from 1 and a column from 0."""
    first, last = begin[0] - 1, end[0] - 1
    inside = lines[first : last + 1]
    inside[-1] = inside[-1][: end[1]]
    inside[0] = inside[0][begin[1] :]
    return "".join(inside)


def _short_hash(content: bytes) -> str:
    # Imported here: it loads OpenSSL, 3.4 MB, and most programs never read another library's code.
    from hashlib import sha256

    return sha256(content).hexdigest()[:16]


def is_known(function: Any, digests: frozenset[str]) -> bool:
    """Return whether the digest of a function's source is among ``digests``.

    Return False for a function that is not written in Python, or whose source is not available.
    """
    if type(function) is not FunctionType:
        return False
    code = function.__code__
    try:
        loader = function.__globals__["__loader__"]
        return _function_digest(loader, code.co_filename, code.co_firstlineno) in digests
    except (OSError, LookupError, AttributeError, TypeError):  # It is not there.
        return False
    except (ValueError, SyntaxError, tokenize.TokenError):  # It is not Python.
        return False


def is_known_module(name: str, digests: frozenset[str]) -> bool:
    """Return whether the digest of an imported module's source file is among ``digests``. The
    source of a compiled module is expected beside it."""
    module = sys.modules.get(name)
    file, loader = getattr(module, "__file__", None), getattr(module, "__loader__", None)
    if not file:
        return False
    stem = file.removesuffix(".pyc").removesuffix(".py")
    if stem == file:
        # An extension module: package/module.cpython-311-x86_64-linux-gnu.so
        folder, _, base = file.replace("\\", "/").rpartition("/")
        stem = f"{folder}/{base.partition('.')[0]}"
    for suffix in (".py", ".pyx"):
        try:
            return _module_digest(loader, stem + suffix) in digests
        except (OSError, AttributeError, TypeError):
            continue
    return False


# The digests are cached, because each call asks again for readers that could not be created.
# Exceptions are not cached: a file that could not be read is tried again.


@lru_cache(maxsize=64)
def _function_digest(loader: Any, path: str, line: int) -> str:
    # Not by inspect.getsource, which follows `__wrapped__` to another function.
    lines = io.StringIO(decode_source(loader.get_data(path))).readlines()
    return digest(inspect.cleandoc("\n" + "".join(inspect.getblock(lines[line - 1 :]))))


@lru_cache(maxsize=64)
def _module_digest(loader: Any, path: str) -> str:
    source: bytes = loader.get_data(path)
    return _short_hash(source.replace(b"\r\n", b"\n").replace(b"\r", b"\n"))
