"""Writes a result as JSON, so that the results of two processes can be compared.

A value is a list: the name of its type, its text, and its parts, each with its step of the path. A
value without parts has None there, and its whole repr as its text.
"""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from althaia.trust.differences import (
    OF_AN_ERROR,
    Difference,
    first_difference_of_texts,
    own_attributes,
    repr_of,
    short_repr,
    shortened,
    step,
)

Written = list[Any]
_MISSING: Written = ["", "(missing)", None]
_PLAIN = (str, int, float, bool, type(None))


def outcome(call: Callable[..., Any], *args: Any, **options: Any) -> tuple[Written, str]:
    """Return the result of a call in this form, and what it raised as text; "" if nothing."""
    try:
        return written(call(*args, **options)), ""
    except Exception as error:
        said = getattr(error, "messages", None) or ", ".join(map(str, error.args))
        return written(error), f"{type(error).__name__}: {said}"


def written(value: Any, above: tuple[int, ...] = ()) -> Written:
    """Return a value as plain data that differs for values of different types.

    Objects of user classes are represented by their attributes. A value inside itself is only
    named.
    """
    cls = type(value)
    name = f"{cls.__module__}.{cls.__qualname__}".removeprefix("althaia.").removeprefix("builtins.")
    if cls in _PLAIN:
        return [name, repr_of(value), None]
    if id(value) in above:
        return [name, "…", None]
    parts = _parts(value)
    if parts is None:
        return [name, repr_of(value), None]
    inside = (*above, id(value))
    return [name, short_repr(value), [[where, written(part, inside)] for where, part in parts]]


def _parts(value: Any) -> list[tuple[str, Any]] | None:
    """Return what a value contains, each with its step of the path; None if it is one thing."""
    if isinstance(value, BaseException):
        names = ("args", *OF_AN_ERROR, "__notes__")
        return [(f".{name}", getattr(value, name, None)) for name in names]
    if isinstance(value, Mapping):
        return [(step(key), value[key]) for key in value]
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray, memoryview)):
        return [(f"[{index}]", part) for index, part in enumerate(value)]
    if isinstance(value, (set, frozenset)):
        return [(f"[{index}]", part) for index, part in enumerate(sorted(value, key=repr_of))]
    plain_repr: object = object.__repr__
    if type(value).__repr__ is plain_repr and (attributes := own_attributes(value)):
        return [(f".{name}", part) for name, part in attributes.items()]
    return None


def first_difference(planned: Written, upstream: Written, path: str = "") -> Difference | None:
    """Return the first difference of two results in this form, or None."""
    if planned == upstream:
        return None
    (kind, text, parts), (other_kind, other_text, others) = planned, upstream
    if kind != other_kind or parts is None or others is None:
        if kind == other_kind == "str" and not path:
            return first_difference_of_texts(literal_eval(text), literal_eval(other_text))
        return Difference(path.removeprefix("."), *_shown(planned, upstream))
    ours, theirs = dict(parts), dict(others)
    for key in {**ours, **theirs}:
        one, other = ours.get(key, _MISSING), theirs.get(key, _MISSING)
        if found := first_difference(one, other, path + key):
            return found
    if list(ours) == list(theirs):
        return None
    where = f"{path} (order of keys)".removeprefix(".").lstrip()
    return Difference(where, shortened(", ".join(ours)), shortened(", ".join(theirs)))


def _shown(planned: Written, upstream: Written) -> tuple[str, str]:
    """Return both texts, with their types if these differ."""
    one, other = (shortened(text) for _, text, _ in (planned, upstream))
    if planned[0] == upstream[0] or _MISSING in (planned, upstream):
        return one, other
    return f"{planned[0]} {one}", f"{upstream[0]} {other}"
