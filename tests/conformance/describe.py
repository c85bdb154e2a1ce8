"""Any value as plain nested data, so that two runs can be compared with ``==``.

What two libraries return can not be compared directly: each run makes its own classes and
objects, and ``nan != nan``, ``1 == True``, ``{"a": 1, "b": 2} == {"b": 2, "a": 1}``. A
description keeps exact types, order, the sign of zero and of NaN, and *identity*: every
object that has one gets the number of its first appearance in the run.
"""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import fractions
import functools
import ipaddress
import math
import re
import types
import uuid
from collections.abc import Callable, Iterator
from typing import Any

Description = Any
"""Nested tuples and strings; equal when the described values are equal in DESIGN's sense."""
_Describe = Callable[[object, set[int]], Description]
_Way = Callable[[Any, set[int]], Description]
_Contents = Callable[[_Describe, Any, set[int]], list[Description]]

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{4,}")
_FUNCTIONS = ("function", "cython_function_or_method", "builtin_function_or_method")
_RENAMED = "althaia.marshmallow"


def neutral(text: str) -> str:
    """``text`` without what legitimately differs: our package's prefix, memory addresses.

    >>> neutral("<class 'althaia.marshmallow.schema.Schema'> at 0x7f00aa")
    "<class 'marshmallow.schema.Schema'> at 0x"
    """
    if "althaia" in text or "<" in text:
        text = text.replace(_RENAMED, "marshmallow").replace("<cyfunction", "<function")
    return _ADDRESS.sub("0x", text) if "0x" in text else text


def type_name(cls: type) -> str:
    """The full name of ``cls``, the same for upstream's class and for ours."""
    module = type.__getattribute__(cls, "__module__")
    return neutral(f"{module}.{cls.__qualname__}")


def _float(value: float) -> str:
    return ("-nan" if math.copysign(1, value) < 0 else "nan") if value != value else repr(value)


def _plain_repr(value: object) -> Description:
    return (type(value).__name__, neutral(repr(value)))


_PLAIN_REPR: tuple[type, ...] = (
    type(None),
    bool,
    type(...),
    type(NotImplemented),
    complex,
    bytes,
    bytearray,
    range,
    slice,
    dt.datetime,
    dt.date,
    dt.time,
    dt.timedelta,
    dt.timezone,
    decimal.Decimal,
    fractions.Fraction,
    uuid.UUID,
    ipaddress.IPv4Address,
    ipaddress.IPv6Address,
    ipaddress.IPv4Interface,
    ipaddress.IPv6Interface,
    ipaddress.IPv4Network,
    ipaddress.IPv6Network,
    re.Pattern,
)
# How the values of a class without identity are described.
_PLAIN: dict[type, Callable[[Any], Description]] = {
    str: lambda value: ("str", neutral(value)),
    int: lambda value: ("int", hex(value)),
    float: lambda value: ("float", _float(value)),
    **dict.fromkeys(_PLAIN_REPR, _plain_repr),
}


class Describer:
    """Describes values; numbers objects by first appearance over its whole life."""

    def __init__(self, missing: object = None) -> None:
        self._missing = missing
        self._numbers: dict[int, int] = {}
        self._alive: list[object] = []
        # What was found out about a class: how its instances are described, and its name.
        self._ways: dict[type, _Way] = {}
        self._names: dict[type, str] = {}

    def __call__(self, value: object) -> Description:
        """The description of ``value`` as it is now; contents are read anew on every call."""
        return self._describe(value, set())

    def _number(self, value: object) -> int:
        number = self._numbers.get(id(value))
        if number is None:
            number = self._numbers[id(value)] = len(self._numbers)
            self._alive.append(value)
        return number

    def _describe(self, value: object, seen: set[int]) -> Description:
        cls = type(value)
        plain = _PLAIN.get(cls)
        if plain is not None:
            return plain(value)
        if value is self._missing:
            return "missing"
        way = self._ways.get(cls)
        if way is None:
            way = self._ways[cls] = self._way(cls)
        return way(value, seen)

    def _way(self, cls: type) -> _Way:
        if cls is tuple:
            return self._tuple
        if issubclass(cls, type):
            return lambda value, seen: ("class", type_name(value))
        if issubclass(cls, enum.Enum):
            return lambda value, seen: (
                "enum",
                type_name(cls),
                object.__getattribute__(value, "_name_"),
            )
        if cls.__name__ in _FUNCTIONS:
            return lambda value, seen: (
                "function",
                neutral(str(getattr(value, "__qualname__", cls.__name__))),
            )
        if cls is types.MethodType or cls.__name__ == "method":
            return lambda value, seen: (
                "method",
                neutral(value.__func__.__qualname__),
                self._describe(value.__self__, seen),
            )
        if issubclass(cls, types.ModuleType):
            return lambda value, seen: (
                "module",
                neutral(types.ModuleType.__getattribute__(value, "__name__")),
            )
        if cls is functools.partial:
            return self._partial
        self._names[cls] = type_name(cls)
        return functools.partial(self._object, _contents_of(cls))

    def _tuple(self, value: Any, seen: set[int]) -> Description:
        return ("tuple", *[self._describe(item, seen) for item in value])

    def _partial(self, value: Any, seen: set[int]) -> Description:
        parts = (value.func, value.args, value.keywords)
        return ("partial", *[self._describe(part, seen) for part in parts])

    def _object(self, contents: _Contents, value: object, seen: set[int]) -> Description:
        number = self._number(value)
        label = f"{self._names[type(value)]}#{number}"
        if number in seen:
            return label
        seen.add(number)
        return (label, *contents(self._describe, value, seen))


# ---- What objects hold ----------------------------------------------------------------
# Always read through the base type's own methods: describing must not call user code.


def _text(describe: _Describe, value: Any, seen: set[int]) -> list[Description]:
    return [("str", neutral(str.__str__(value)))]


def _integer(describe: _Describe, value: Any, seen: set[int]) -> list[Description]:
    return [("int", int.__repr__(value))]


def _floating(describe: _Describe, value: Any, seen: set[int]) -> list[Description]:
    return [("float", float.__repr__(value))]


def _octets(describe: _Describe, value: Any, seen: set[int]) -> list[Description]:
    return [("bytes", bytes.__repr__(bytes(value)))]


def _entries(describe: _Describe, value: Any, seen: set[int]) -> list[Description]:
    return [(describe(key, seen), describe(item, seen)) for key, item in dict.items(value)]


def _items(base: Any, describe: _Describe, value: Any, seen: set[int]) -> list[Description]:
    return [describe(item, seen) for item in base.__iter__(value)]


def _members(base: Any, describe: _Describe, value: Any, seen: set[int]) -> list[Description]:
    return sorted(_items(base, describe, value, seen), key=repr)


def _ordered_set(describe: _Describe, value: Any, seen: set[int]) -> list[Description]:
    return [describe(item, seen) for item in value]


def _nothing(describe: _Describe, value: object, seen: set[int]) -> list[Description]:
    return []


def _exception(describe: _Describe, error: Any, seen: set[int]) -> list[Description]:
    parts: list[Description] = []
    # How deep a recursion got is worded by the interpreter according to where it stood.
    if not isinstance(error, RecursionError):
        parts.append(("args", *[describe(arg, seen) for arg in error.args]))
    parts += [(name, describe(item, seen)) for name, item in sorted(vars(error).items())]
    parts.append(("cause", describe(error.__cause__, seen)))
    parts.append(("suppress_context", error.__suppress_context__))
    return parts


_HOLDERS: tuple[tuple[type, _Contents], ...] = (
    (str, _text),
    (int, _integer),
    (float, _floating),
    (bytes, _octets),
    (bytearray, _octets),
    (dict, _entries),
    (list, functools.partial(_items, list)),
    (tuple, functools.partial(_items, tuple)),
    (set, functools.partial(_members, set)),
    (frozenset, functools.partial(_members, frozenset)),
)


def _contents_of(cls: type) -> _Contents:
    """What reads the parts of an object of a class: of a builtin type, and in its ``__dict__``."""
    if issubclass(cls, BaseException):
        return _exception
    held = next((read for base, read in _HOLDERS if issubclass(cls, base)), _nothing)
    if held is _nothing and cls.__name__ == "OrderedSet":
        held = _ordered_set
    if cls.__module__ == "builtins" or _is_library_object(cls):
        return held

    def with_state(describe: _Describe, value: object, seen: set[int]) -> list[Description]:
        parts = held(describe, value, seen)
        try:
            state = object.__getattribute__(value, "__dict__")
        except AttributeError:
            return parts
        if type(state) is dict and state:
            parts.append(("vars", *_entries(describe, state, seen)))
        return parts

    return with_state


def _is_library_object(cls: type) -> bool:
    return any(
        type_name(base) in ("marshmallow.schema.Schema", "marshmallow.fields.Field")
        for base in cls.__mro__
    )


def lines(description: Description, depth: int = 0) -> Iterator[str]:
    """``description`` as indented lines, for a readable difference."""
    indent = "  " * depth
    if not isinstance(description, tuple):
        yield f"{indent}{description}"
    elif not any(isinstance(part, tuple) for part in description):
        yield indent + " ".join(str(part) for part in description)
    else:
        yield f"{indent}("
        for part in description:
            yield from lines(part, depth + 1)
        yield f"{indent})"
