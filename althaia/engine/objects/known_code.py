"""Checks that another library's code is the code for which a reader was written.

Sources are read through the modules' loaders, because a test may have replaced ``open()`` or
``os.stat`` and count the calls.
"""

import ast
import inspect
import io
import sys
import tokenize
from functools import lru_cache
from importlib.util import decode_source
from types import FunctionType
from typing import Any


def digest(source: str) -> str:
    """Return the digest of a function's source, as the semantic lock has them: without docstrings,
    comments, layout and annotations.

    :raises SyntaxError: it is not Python.

    >>> digest("def one(): return 1  # one") == digest("def one() -> int: return  1")
    True
    """
    # Imported here: it loads OpenSSL, 3.4 MB, and most programs never read another library's code.
    from althaia.releases.digests import of_tree

    tree: Any = ast.parse(source)
    return of_tree("function.py", tree)[f"function.{tree.body[0].name}"]


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
    from hashlib import sha256

    source: bytes = loader.get_data(path)
    return sha256(source.replace(b"\r\n", b"\n").replace(b"\r", b"\n")).hexdigest()[:16]
