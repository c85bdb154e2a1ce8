"""The libraries whose objects have readers, and the attribute by which their types are recognized.

A library's module here is imported when the first object of such a type is dumped.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

READERS = {
    "_sa_class_manager": ("sqlalchemy", "orm_readers"),
    "_key_to_index": ("sqlalchemy", "row_readers"),
    "__pydantic_private__": ("pydantic", "readers"),
}
"""By a class attribute that only a library's types have: the library, and the function that creates
the readers."""


def load(library: str, maker: str) -> tuple[Any, ...]:
    """Return the readers of an imported library; none if its code is not known."""
    if library not in sys.modules:
        # A class of another library has an attribute of this name.
        return ()
    try:
        readers: tuple[Any, ...] = getattr(import_module(f"{__package__}.{library}"), maker)()
    except (ImportError, AttributeError, TypeError):
        # For instance in a test that makes imports fail. Later calls try again.
        return ()
    return readers
