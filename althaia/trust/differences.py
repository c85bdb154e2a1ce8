"""Finds the first difference between two results: values, types, order of keys, exceptions."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, time, timedelta, tzinfo
from decimal import Decimal
from enum import Enum
from itertools import zip_longest
from reprlib import Repr
from types import BuiltinFunctionType, FunctionType, GeneratorType, MethodType, ModuleType
from typing import Any, Final
from uuid import UUID

from althaia.trust.notes import BEGINNING

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_INDEX = re.compile(r"\[\d+\]")

# Types whose repr shows the complete value.
_TELLING: Final = (float, complex, Decimal, date, time, timedelta, tzinfo, UUID, bytes, range)
_OPAQUE: Final = (
    type,
    ModuleType,
    FunctionType,
    BuiltinFunctionType,
    MethodType,
    GeneratorType,
    Enum,
)
# The attributes of marshmallow's exceptions that are compared, besides `args`.
OF_AN_ERROR: Final = ("messages", "field_name", "data", "valid_data", "kwargs")

_short = Repr()
_short.maxstring = _short.maxother = _short.maxlong = 80
_short.maxdict = _short.maxlist = _short.maxtuple = _short.maxset = 4
_short.maxlevel = 3
LONGEST: Final = 160


class Missing:
    """Replaces a key or an item that one of the two results does not have."""

    def __repr__(self) -> str:
        return "(missing)"


MISSING: Final = Missing()


@dataclass(frozen=True, slots=True)
class Difference:
    """The first place at which two results differ."""

    path: str
    """``[3].lines[0].price``; "" is the result itself."""
    planned: str
    """The planned value at this path, shortened."""
    upstream: str
    """The value of upstream's own code, shortened."""

    @property
    def kind(self) -> str:
        """The path without indexes, which is equal for the same field of other records."""
        return _INDEX.sub("[…]", self.path)

    def __str__(self) -> str:
        where = self.path or "the result itself"
        return f"{where}: {self.planned} by the plan, {self.upstream} by marshmallow's own code"


def first_difference(planned: Any, upstream: Any, path: str = "") -> Difference | None:
    """Return the first difference of two results, in the order of the planned one; or None.

    :param path: that of the results
    :raises RecursionError: they are nested too deeply to be compared.
    """
    return _Comparison().difference(planned, upstream, path)


def first_difference_of_texts(planned: str | bytes, upstream: str | bytes) -> Difference | None:
    """Do the same for JSON text: the path is that of the value, or the index of the character."""
    if type(planned) is type(upstream) and planned == upstream:
        return None
    with suppress(ValueError, RecursionError):
        found = first_difference(json.loads(planned), json.loads(upstream))
        if found is not None:
            return found
    if type(planned) is not type(upstream):
        return Difference("", *_both_shortened(planned, upstream))
    return _in_text(planned, upstream)


def _in_text(planned: Any, upstream: Any) -> Difference:
    pairs = enumerate(zip(planned, upstream, strict=False))
    shorter = min(len(planned), len(upstream))
    place = next((index for index, (one, other) in pairs if one != other), shorter)
    part = slice(max(place - 20, 0), place + 40)
    return Difference(f"(character {place})", repr(planned[part]), repr(upstream[part]))


def first_difference_of_errors(
    planned: BaseException, upstream: BaseException
) -> Difference | None:
    """Do the same for two exceptions: class, arguments, messages, notes, cause.

    The notes that :mod:`althaia.trust.notes` adds are no difference.
    """
    if type(planned) is not type(upstream):
        return Difference("", short_repr(planned), short_repr(upstream))
    name = type(planned).__name__
    comparison = _Comparison()
    for attribute in ("args", *OF_AN_ERROR, "__notes__"):
        one, other = (getattr(error, attribute, MISSING) for error in (planned, upstream))
        if attribute == "__notes__":
            one, other = _without_ours(one), _without_ours(other)
        if found := comparison.difference(one, other, f"{name}.{attribute}"):
            return found
    one, other = planned.__cause__, upstream.__cause__
    if type(one) is not type(other):
        return Difference(f"{name}.__cause__", short_repr(one), short_repr(other))
    return None


def _without_ours(found: Any) -> Any:
    """Return the notes of an exception that the program added, or MISSING if there are none."""
    if type(found) is not list:
        return found
    kept = [each for each in found if not (isinstance(each, str) and each.startswith(BEGINNING))]
    return kept or MISSING


def short_repr(value: Any) -> str:
    """Return a shortened repr of a value, even if its own ``__repr__`` raises."""
    try:
        text = _short.repr(value)
    except Exception as error:
        text = f"<{type(value).__qualname__}, whose repr raises {type(error).__name__}>"
    return shortened(text)


def shortened(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _both_shortened(planned: Any, upstream: Any) -> tuple[str, str]:
    """Return reprs of both values, with their types if these differ or the reprs are equal."""
    one, other = short_repr(planned), short_repr(upstream)
    if MISSING in (planned, upstream) or (type(planned) is type(upstream) and one != other):
        return one, other
    return f"{_type_name(planned)} {one}", f"{_type_name(upstream)} {other}"


def _type_name(value: Any) -> str:
    cls = type(value)
    return cls.__qualname__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__name__}"


class _Comparison:
    """Compares two values. Keeps the pairs around them, because values may contain themselves."""

    def __init__(self) -> None:
        self.above: set[tuple[int, int]] = set()

    def difference(self, planned: Any, upstream: Any, path: str) -> Difference | None:
        if planned is upstream:
            return None
        if type(planned) is not type(upstream):
            return Difference(path, *_both_shortened(planned, upstream))
        cls = type(planned)
        if cls in (str, int, bool) or issubclass(cls, _TELLING):
            return self._plain(planned, upstream, path)
        pair = (id(planned), id(upstream))
        if pair in self.above:
            return None
        self.above.add(pair)
        try:
            return self._inside(planned, upstream, path)
        finally:
            self.above.discard(pair)

    def _plain(self, planned: Any, upstream: Any, path: str) -> Difference | None:
        if type(planned) in (str, int, bool):
            return _unless(planned == upstream, planned, upstream, path)
        # Not by ==: NaN differs from itself, and -0.0 equals 0.0.
        return _unless(repr(planned) == repr(upstream), planned, upstream, path)

    def _inside(self, planned: Any, upstream: Any, path: str) -> Difference | None:
        if isinstance(planned, Mapping):
            return self._mapping(planned, upstream, path)
        if isinstance(planned, Sequence) and not isinstance(planned, (str, bytearray, memoryview)):
            pairs = enumerate(zip_longest(planned, upstream, fillvalue=MISSING))
            found = (self.difference(*pair, f"{path}[{index}]") for index, pair in pairs)
            return next(filter(None, found), None)
        if isinstance(planned, (set, frozenset)):
            ours, theirs = (sorted(map(_type_and_repr, each)) for each in (planned, upstream))
            return _unless(ours == theirs, planned, upstream, path)
        if isinstance(planned, BaseException):
            return first_difference_of_errors(planned, upstream)
        # Objects of a user's class are compared by their attributes, so that the path names these.
        if not isinstance(planned, _OPAQUE):
            own = own_attributes(planned), own_attributes(upstream)
            if any(own):
                return self._mapping(*own, path)
        alike = _type_and_repr(planned) == _type_and_repr(upstream)
        if not alike and not isinstance(planned, _OPAQUE):
            alike = _says_equal(planned, upstream)
        return _unless(alike, planned, upstream, path)

    def _mapping(self, planned: Any, upstream: Any, path: str) -> Difference | None:
        ours, theirs = list(planned), list(upstream)
        for key in dict.fromkeys([*ours, *theirs]):
            one, other = (each.get(key, MISSING) for each in (planned, upstream))
            if found := self.difference(one, other, f"{path}{step(key)}".removeprefix(".")):
                return found
        if ours == theirs and list(map(type, ours)) == list(map(type, theirs)):
            return None
        return Difference(f"{path} (order of keys)".lstrip(), short_repr(ours), short_repr(theirs))


def _unless(alike: bool, planned: Any, upstream: Any, path: str) -> Difference | None:
    return None if alike else Difference(path, *_both_shortened(planned, upstream))


def _says_equal(planned: Any, upstream: Any) -> bool:
    try:
        return bool(planned == upstream)
    except Exception:
        return False


def _type_and_repr(value: Any) -> str:
    return f"{_type_name(value)} {repr_of(value)}"


def repr_of(value: Any) -> str:
    """Return a value's repr, without the address, which differs between equal objects."""
    try:
        return _ADDRESS.sub("", repr(value))
    except Exception as error:
        return f"(its repr raises {type(error).__name__})"


def own_attributes(value: Any) -> dict[str, Any]:
    """Return an object's attributes by name, without SQLAlchemy's internal state of a row."""
    found = {k: v for k, v in getattr(value, "__dict__", {}).items() if not k.startswith("_sa_")}
    for cls in type(value).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__") and hasattr(value, name):
                found[name] = getattr(value, name)
    return found


def step(key: Any) -> str:
    """Return what a key adds to the path."""
    if isinstance(key, str) and key.isidentifier():
        return f".{key}"
    return f"[{short_repr(key)}]"
