"""Numbers for ``Schema``, of which CPython gives a class no more than 1,000 since 3.13: the
scenarios change it more often, and what nothing can watch is no longer planned."""

import ctypes
import itertools
import sys

HAS_LIMIT = sys.implementation.name == "cpython" and sys.version_info >= (3, 13)


def _numbers(cls):
    """The class's memory as numbers of 16 bits, once the class has got a number."""
    ctypes.pythonapi.PyUnstable_Type_AssignVersionTag(ctypes.py_object(cls))
    size = type.__basicsize__ // 2
    return list((ctypes.c_uint16 * size).from_address(id(cls)))


def _place():
    """Where in a class CPython counts its numbers, seen by changing one; None if it does not."""
    if not HAS_LIMIT:
        return None

    class Trial:
        changed = 0

    seen = []
    for Trial.changed in range(4):
        seen.append(_numbers(Trial))
    places = [
        place
        for place, values in enumerate(zip(*seen, strict=True))
        if values[0] < 10 and all(b - a == 1 for a, b in itertools.pairwise(values))
    ]
    if len(places) != 1:
        raise RuntimeError(
            f"CPython {sys.version} counts the numbers of a class in a place that "
            f"{__name__} does not find; candidates are {places}"
        )
    return 2 * places[0]


_COUNTER = _place()


def renew(cls):
    """Let a class be changed a thousand times more.

    >>> renew(marshmallow.Schema)
    """
    if _COUNTER is not None:
        ctypes.c_uint16.from_address(id(cls) + _COUNTER).value = 1


def is_numbered(cls):
    """Whether CPython has a number for the class."""
    if sys.version_info < (3, 12) or sys.implementation.name != "cpython":
        return True
    return bool(ctypes.pythonapi.PyUnstable_Type_AssignVersionTag(ctypes.py_object(cls)))
