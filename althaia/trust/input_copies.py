"""Copies inputs for a second run, and recognizes inputs that can be read only once.

Dictionaries, lists and tuples are copied at every depth, other mappings and sequences by
``copy.copy``. Hence a ``pre_load`` or ``pre_dump`` hook that changes its input changes the caller's
object only once. Objects of other classes are not copied, because copying a database row or a file
has side effects.
"""

from collections.abc import MutableMapping, MutableSequence
from contextlib import suppress
from copy import copy
from typing import Any


def copy_of(value: Any, known: dict[int, Any] | None = None) -> Any:
    """Return a copy that shares with the original only objects that are no containers.

    :param known: copies of the containers around the value, which it may contain

    >>> original = {"a": [1]}
    >>> copy_of(original)["a"].append(2)
    >>> original
    {'a': [1]}
    """
    copies = {} if known is None else known
    cls = type(value)
    if cls not in (dict, list, tuple):
        if isinstance(value, (MutableMapping, MutableSequence)) and cls is not bytearray:
            with suppress(Exception):  # It cannot be copied: the second run gets the original.
                return copy(value)
        return value
    if id(value) in copies:
        return copies[id(value)]
    if cls is tuple:
        return tuple(copy_of(each, copies) for each in value)
    result = copies[id(value)] = cls()
    if cls is dict:
        result.update((key, copy_of(each, copies)) for key, each in value.items())
    else:
        result.extend(copy_of(each, copies) for each in value)
    return result


_READS_ONCE = ("__next__", "read", "readable", "recv", "fetchone")


def is_one_shot(value: Any) -> bool:
    """Return whether a value can be read only once: an iterator, an open file, an upload, a socket,
    a cursor of a database; or an object that passes everything on to one, as werkzeug's uploads."""
    inside = getattr(value, "__dict__", None) if hasattr(type(value), "__getattr__") else None
    return any(
        callable(getattr(type(each), name, None))
        for each in (value, *(inside.values() if isinstance(inside, dict) else ()))
        for name in _READS_ONCE
    )
