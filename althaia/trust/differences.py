"""Finds the first difference between two results: values, types, order of keys, exceptions.

The results of two processes are compared in a form that JSON has: see :func:`written`.
"""

import json
import re
from ast import literal_eval
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, time, timedelta, tzinfo
from decimal import Decimal
from enum import Enum
from os.path import commonprefix
from reprlib import Repr
from types import BuiltinFunctionType, FunctionType, GeneratorType, MethodType, ModuleType
from typing import Any, NamedTuple
from uuid import UUID

from althaia.trust.notes import BEGINNING

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_INDEX = re.compile(r"\[\d+\]")

# Types whose values are one thing, which their repr shows, though some are sequences or have
# attributes.
_WHOLE = (
    str, int, float, complex, Decimal, date, time, timedelta, tzinfo, UUID, bytes, bytearray,
    memoryview, range, type, ModuleType, FunctionType, BuiltinFunctionType, MethodType,
    GeneratorType, Enum,
)  # fmt: skip
# The attributes of marshmallow's exceptions that are compared, besides `args`.
_OF_AN_ERROR = ("args", "messages", "field_name", "data", "valid_data", "kwargs")

_short = Repr()
_short.maxstring = _short.maxother = _short.maxlong = 80
_short.maxdict = _short.maxlist = _short.maxtuple = _short.maxset = 4
_short.maxlevel = 3
LONGEST = 160


class Written(NamedTuple):
    """A value as plain data, which JSON knows as a list."""

    type: str
    text: str
    """A value's whole repr if it has no parts."""
    parts: list[tuple[str, Any]] | None
    """Each with its step of the path."""


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
    def place(self) -> str:
        """The path without indexes, which is equal for the same field of other records."""
        return _INDEX.sub("[…]", self.path)

    def __str__(self) -> str:
        where = self.path or "the result itself"
        return f"{where}: {self.planned} by the plan, {self.upstream} by marshmallow's own code"


def first_difference(planned: Any, upstream: Any) -> Difference | None:
    """Return the first difference of two results, in the order of the planned one; or None.

    :raises RecursionError: they are nested too deeply to be compared.
    """
    same = type(planned) is type(upstream)
    if same and isinstance(planned, (str, bytes)):
        return _difference_of_texts(planned, upstream)
    path = type(planned).__name__ if same and isinstance(planned, BaseException) else ""
    return _difference(planned, upstream, path)


def _difference_of_texts(planned: Any, upstream: Any) -> Difference | None:
    """Do the same for JSON text: the path is that of the value, or the index of the character."""
    if planned == upstream:
        return None
    with suppress(ValueError, RecursionError):
        if found := _difference(json.loads(planned), json.loads(upstream)):
            return found
    place = len(commonprefix([planned, upstream]))  # noqa: RUF071 - character by character
    part = slice(max(place - 20, 0), place + 40)
    return Difference(f"(character {place})", repr(planned[part]), repr(upstream[part]))


def written(value: Any, above: tuple[int, ...] = ()) -> Written:
    """Return a value as plain data that differs for values of different types.

    Objects of user classes are represented by their attributes. A value inside itself is only
    named.
    """
    cls, text, parts = _look(value)
    name = name_of(cls)
    if parts is None or id(value) in above:
        return Written(name, text or "…", None)
    inside = (*above, id(value))
    return Written(
        name, short_repr(value), [(key, written(part, inside)) for key, part in parts.items()]
    )


def first_difference_of_written(planned: Any, upstream: Any) -> Difference | None:
    """Return the first difference of two results in this form, as JSON gives it, or None."""
    one, other = Written(*planned), Written(*upstream)
    if one.type == other.type == "str":
        return first_difference(literal_eval(one.text), literal_eval(other.text))
    return _difference(one, other)


def _difference(
    planned: Any, upstream: Any, path: str = "", above: frozenset[tuple[int, int]] = frozenset()
) -> Difference | None:
    """Return the first difference of two values, written or not.

    :param above: the pairs around them, because values may contain themselves
    """
    pair = (id(planned), id(upstream))
    if planned is upstream or pair in above:
        return None
    if type(planned) is type(upstream) is str and planned == upstream:
        return None  # The most frequent case.
    (cls, text, parts), (other_cls, other_text, others) = _look(planned), _look(upstream)
    where = path.removeprefix(".")
    if cls != other_cls:
        one = f"{name_of(cls)} {short_repr(planned)}"
        other = f"{name_of(other_cls)} {short_repr(upstream)}"
        return Difference(where, one, other)
    if parts is None or others is None:
        same = text == other_text
        return None if same else Difference(where, short_repr(planned), short_repr(upstream))
    inside = above | {pair}
    for key in {**parts, **others}:
        if key not in parts or key not in others:
            one, other = (
                short_repr(each[key]) if key in each else "(missing)" for each in (parts, others)
            )
            return Difference(f"{path}{key}".removeprefix("."), one, other)
        if found := _difference(parts[key], others[key], path + key, inside):
            return found
    if list(parts) == list(others):
        return None
    keys = (_shortened(" ".join(each)) for each in (parts, others))
    return Difference(f"{where} (order of keys)".lstrip(), *keys)


def _look(value: Any) -> tuple[Any, str, dict[str, Any] | None]:
    """Return a value's type, and its parts or else its whole text."""
    if type(value) is Written:
        parts = None if value.parts is None else {k: Written(*part) for k, part in value.parts}
        return value.type, value.text, parts
    parts = None if isinstance(value, _WHOLE) else _parts(value)
    return type(value), repr_of(value) if parts is None else "", parts


def _parts(value: Any) -> dict[str, Any] | None:
    """Return what a value contains, each with its step of the path; None if it is one thing."""
    if isinstance(value, BaseException):
        found = {f".{name}": getattr(value, name) for name in _OF_AN_ERROR if hasattr(value, name)}
        notes = getattr(value, "__notes__", ())
        # Those that notes.py adds are no difference.
        found[".__notes__"] = [each for each in notes if not str(each).startswith(BEGINNING)]
        found[".__cause__"] = type(value.__cause__).__name__
        return found
    if isinstance(value, Mapping):
        return {_step(key): value[key] for key in value}
    if isinstance(value, (set, frozenset)):
        value = sorted(value, key=repr_of)
    if isinstance(value, Sequence):
        return {f"[{index}]": part for index, part in enumerate(value)}
    return {f".{name}": part for name, part in _own_attributes(value).items()} or None


def _step(key: Any) -> str:
    """Return what a key adds to the path."""
    return f".{key}" if type(key) is str and key.isidentifier() else f"[{repr_of(key)}]"


def _own_attributes(value: Any) -> dict[str, Any]:
    """Return an object's attributes by name, without SQLAlchemy's internal state of a row."""
    found = {k: v for k, v in getattr(value, "__dict__", {}).items() if not k.startswith("_sa_")}
    for cls in type(value).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__") and hasattr(value, name):
                found[name] = getattr(value, name)
    return found


def name_of(cls: Any) -> str:
    """Return the name of a type, which a written value's is already."""
    if isinstance(cls, str):
        return cls
    name = f"{cls.__module__}.{cls.__qualname__}"
    return name.removeprefix("builtins.").removeprefix("althaia.")


def repr_of(value: Any) -> str:
    """Return a value's repr, without the address, which differs between equal objects."""
    try:
        return _ADDRESS.sub("", repr(value))
    except Exception as error:
        return f"<{type(value).__qualname__}, whose repr raises {type(error).__name__}>"


def short_repr(value: Any) -> str:
    """Return a shortened repr of a value, even if its own ``__repr__`` raises."""
    if type(value) is Written:
        return _shortened(value.text)
    try:
        return _shortened(_short.repr(value))
    except Exception:
        return _shortened(repr_of(value))


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
