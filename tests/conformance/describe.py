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
from collections.abc import Iterator
from typing import Any

Description = Any
"""Nested tuples and strings; equal when the described values are equal in DESIGN's sense."""

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{4,}")
_PLAIN_REPR: frozenset[type] = frozenset(
    {
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
    }
)
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


class Describer:
    """Describes values; numbers objects by first appearance over its whole life."""

    def __init__(self, missing: object = None) -> None:
        self._missing = missing
        self._numbers: dict[int, int] = {}
        self._alive: list[object] = []
        self._classes: dict[type, tuple[str, bool]] = {}

    def __call__(self, value: object) -> Description:
        """The description of ``value`` as it is now; contents are read anew on every call."""
        return self._describe(value, set())

    def _number(self, value: object) -> int:
        number = self._numbers.get(id(value))
        if number is None:
            number = self._numbers[id(value)] = len(self._numbers)
            self._alive.append(value)
        return number

    def _class(self, cls: type) -> tuple[str, bool]:
        found = self._classes.get(cls)
        if found is None:
            found = self._classes[cls] = type_name(cls), _is_library_object(cls)
        return found

    def _describe(self, value: object, seen: set[int]) -> Description:
        cls = type(value)
        if cls is str:
            return ("str", neutral(value))
        if cls is int:
            return ("int", hex(value))
        if cls is float:
            return ("float", _float(value))
        if cls in _PLAIN_REPR:
            return (cls.__name__, neutral(repr(value)))
        if cls is tuple:
            return ("tuple", *(self._describe(item, seen) for item in value))
        if value is self._missing:
            return "missing"
        if issubclass(cls, type):
            return ("class", type_name(value))
        if issubclass(cls, enum.Enum):
            return ("enum", type_name(cls), object.__getattribute__(value, "_name_"))
        if cls.__name__ in _FUNCTIONS:
            return ("function", neutral(str(getattr(value, "__qualname__", cls.__name__))))
        if cls is types.MethodType or cls.__name__ == "method":
            return (
                "method",
                neutral(value.__func__.__qualname__),
                self._describe(value.__self__, seen),
            )
        if issubclass(cls, types.ModuleType):
            return ("module", neutral(types.ModuleType.__getattribute__(value, "__name__")))
        if cls is functools.partial:
            partial: Any = value
            parts = (partial.func, partial.args, partial.keywords)
            return ("partial", *(self._describe(part, seen) for part in parts))
        number = self._number(value)
        label = f"{self._class(cls)[0]}#{number}"
        if number in seen:
            return label
        seen.add(number)
        return (label, *self._contents(value, cls, seen))

    def _contents(self, value: Any, cls: type, seen: set[int]) -> Iterator[Description]:
        # Always through the base type's own methods: describing must not call user code.
        if issubclass(cls, BaseException):
            yield from self._exception(value, cls, seen)
            return
        if issubclass(cls, str):
            yield ("str", neutral(str.__str__(value)))
        elif issubclass(cls, int):
            yield ("int", int.__repr__(value))
        elif issubclass(cls, float):
            yield ("float", float.__repr__(value))
        elif issubclass(cls, (bytes, bytearray)):
            yield ("bytes", bytes.__repr__(bytes(value)))
        elif issubclass(cls, dict):
            for key, item in dict.items(value):
                yield (self._describe(key, seen), self._describe(item, seen))
        elif issubclass(cls, (list, tuple)):
            base: Any = list if issubclass(cls, list) else tuple
            for item in base.__iter__(value):
                yield self._describe(item, seen)
        elif issubclass(cls, (set, frozenset)):
            set_base: Any = set if issubclass(cls, set) else frozenset
            items = [self._describe(item, seen) for item in set_base.__iter__(value)]
            yield from sorted(items, key=repr)
        elif cls.__name__ == "OrderedSet":
            for item in value:
                yield self._describe(item, seen)
        if not self._class(cls)[1]:
            try:
                state = object.__getattribute__(value, "__dict__")
            except AttributeError:
                return
            if type(state) is dict and state:
                yield ("vars", *self._contents(state, dict, seen))

    def _exception(self, error: BaseException, cls: type, seen: set[int]) -> Iterator[Description]:
        # How deep a recursion got is worded by the interpreter according to where it stood.
        if not issubclass(cls, RecursionError):
            yield ("args", *(self._describe(arg, seen) for arg in error.args))
        for name, item in sorted(vars(error).items()):
            yield (name, self._describe(item, seen))
        yield ("cause", self._describe(error.__cause__, seen))
        yield ("suppress_context", error.__suppress_context__)


def _float(value: float) -> str:
    return ("-nan" if math.copysign(1, value) < 0 else "nan") if value != value else repr(value)


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
