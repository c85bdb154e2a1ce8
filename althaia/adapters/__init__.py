"""What althaia knows about other libraries: one module for each, loaded when it is needed.

A library that an application does not use is never imported; neither is its module here. Those
that this one names are readers, found by the engine; the others (Flask, Starlette, …) are
imported by who wants them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

READERS = {
    "_sa_class_manager": ("sqlalchemy", "orm_readers"),
    "_key_to_index": ("sqlalchemy", "row_readers"),
    "__pydantic_private__": ("pydantic", "readers"),
}
"""A class attribute that tells a library's types, the library, and what makes their readers."""


def connect(register: Callable[[str, Callable[[], tuple[Any, ...]]], None]) -> None:
    """Tell the engine whose objects there are readers for; loads none of them.

    :param register: ``register(marker, load)``; see :func:`althaia.plans.readers.register`.
    """
    for marker, (library, maker) in READERS.items():
        register(marker, partial(_load, library, maker))


def _load(library: str, maker: str) -> tuple[Any, ...]:
    """The readers of a library that has been imported; none where its code is not known."""
    if library not in sys.modules:
        # Somebody else's class has an attribute of this name.
        return ()
    try:
        readers: tuple[Any, ...] = getattr(import_module(f"{__name__}.{library}"), maker)()
    except (ImportError, AttributeError, TypeError):
        # As in a test that makes imports fail; later calls try again.
        return ()
    return readers
