"""The libraries whose objects have readers, and the attribute by which their types are recognized.

A library's module here is imported when the first object of such a type is dumped.
"""

import sys
from importlib import import_module
from typing import Any

READERS = {
    "_sa_class_manager": ("sqlalchemy", "orm_readers", "mapped objects"),
    "_key_to_index": ("sqlalchemy", "row_readers", "rows"),
}
"""By a class attribute that only a library's types have: the library, the function that creates the
readers, and the objects that they are for."""


class NoReader(Exception):
    """A library's objects are read as upstream reads them; the text is the reason."""


def load_readers(library: str, maker: str) -> tuple[Any, ...]:
    """Return the readers of an imported library; none if its code is not known."""
    if library not in sys.modules:
        # A class of another library has an attribute of this name.
        return ()
    try:
        return _made(library, maker)
    except NoReader:
        # For instance in a test that makes imports fail. Later calls try again.
        return ()


def _made(library: str, maker: str) -> tuple[Any, ...]:
    """Return the readers of an imported library; none if the part that has such objects is not
    imported.

    :raises NoReader: the library's code is not known.
    """
    try:
        readers: tuple[Any, ...] = getattr(import_module(f"{__package__}.{library}"), maker)()
    except (ImportError, AttributeError, TypeError) as error:
        raise NoReader(f"{type(error).__name__}: {error}") from error
    return readers


def status() -> dict[str, str]:
    """Return for the objects of each imported library the reason why they have no reader; "" if
    they have one.

    >>> status()
    {'sqlalchemy 2.0.40, mapped objects': '', 'sqlalchemy 2.0.40, rows': ''}
    """
    found = {}
    for library, maker, objects in READERS.values():
        module = sys.modules.get(library)
        if module is None:
            continue
        version = getattr(module, "__version__", "of an unknown version")
        reason = ""
        try:
            if not _made(library, maker):
                continue
        except NoReader as error:
            reason = str(error)
        found[f"{library} {version}, {objects}"] = reason
    return found
