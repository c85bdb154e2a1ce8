"""Libraries built on marshmallow, imported against whichever marshmallow is measured.

They say ``import marshmallow``. Where two marshmallows are compared in one process, the second
is not behind that name: each gets copies of these libraries of its own.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from benchmarks.model import Marshmallow

BUILT_ON_IT = (
    "webargs",
    "marshmallow_sqlalchemy",
    "flask_marshmallow",
    "marshmallow_oneofschema",
)

_copies: dict[str, dict[str, ModuleType]] = {}


def library(ma: Marshmallow, name: str) -> Any:
    """The module ``name`` of a library that subclasses what ``ma`` defines.

    :param ma: a marshmallow module, under whatever name it was imported.
    :param name: a module of one of :data:`BUILT_ON_IT`.
    :raises ModuleNotFoundError: the library is not installed.
    """
    if sys.modules.get("marshmallow") is ma:
        return importlib.import_module(name)
    with _behind_the_name(ma):
        return importlib.import_module(name)


@contextmanager
def _behind_the_name(ma: Marshmallow) -> Iterator[None]:
    """Let ``import marshmallow`` give ``ma``, and the libraries be those that were built on it."""
    ours = {
        "marshmallow" + name.removeprefix(ma.__name__): module
        for name, module in list(sys.modules.items())
        if _is_of(name, ma.__name__)
    }
    before = _taken("marshmallow", *BUILT_ON_IT)
    sys.modules.update(ours | _copies.get(ma.__name__, {}))
    try:
        yield
    finally:
        _copies[ma.__name__] = _taken(*BUILT_ON_IT)
        _taken("marshmallow")
        sys.modules.update(before)


def _taken(*packages: str) -> dict[str, ModuleType]:
    """The imported modules of some packages, taken out of ``sys.modules``."""
    names = [name for name in sys.modules if any(_is_of(name, package) for package in packages)]
    return {name: sys.modules.pop(name) for name in names}


def _is_of(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")
