"""Converts a result to JSON and back, so that the results of two processes can be compared.

Each value is a list: its type's name, the kind of what follows, and that.
"""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from althaia.trust import differences
from althaia.trust.differences import OF_AN_ERROR, Difference, own_attributes, repr_of

Written = list[Any]
_PLAIN = {cls: f"builtins.{cls.__name__}" for cls in (str, int, float, bool, type(None))}


def outcome(call: Callable[..., Any], *args: Any, **options: Any) -> Written:
    """Return the result or the exception of a call in this form."""
    try:
        return written(call(*args, **options))
    except Exception as error:
        return written(error)


def written(value: Any, above: tuple[int, ...] = ()) -> Written:
    """Return a value as plain data that differs for values of different types.

    Objects of user classes are represented by their attributes. A value inside itself is only
    named.
    """
    cls = type(value)
    if cls in _PLAIN:
        return [_PLAIN[cls], "value", repr_of(value)]
    name = f"{cls.__module__}.{cls.__qualname__}".removeprefix("althaia.")
    if id(value) in above:
        return [name, "value", "…"]
    inside = (*above, id(value))
    if isinstance(value, BaseException):
        parts = {each: getattr(value, each, None) for each in ("args", *OF_AN_ERROR, "__notes__")}
        return [name, "raised", _pairs(parts, inside)]
    if isinstance(value, Mapping):
        return [name, "keys", _pairs(value, inside)]
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray, memoryview)):
        return [name, "items", [written(each, inside) for each in value]]
    if isinstance(value, (set, frozenset)):
        return [name, "items", sorted((written(each, inside) for each in value), key=repr)]
    plain_repr: object = object.__repr__
    if cls.__repr__ is plain_repr and (attributes := own_attributes(value)):
        return [name, "keys", _pairs(attributes, inside)]
    return [name, "value", repr_of(value)]


def _pairs(mapping: Mapping[Any, Any], inside: tuple[int, ...]) -> list[Any]:
    return [[written(key, inside), written(mapping[key], inside)] for key in mapping]


class _Value(str):
    """A value of another process by its repr."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class _Raised(dict[str, Any]):
    """An exception of another process by its attributes."""

    def __repr__(self) -> str:
        says = self["messages"]
        says = differences.short_repr(self["args"] if says is None else says)
        return f"{type(self).__name__}({says})"


_BASES: dict[str, type] = {"keys": dict, "items": list, "raised": _Raised, "value": _Value}


@cache
def _class(name: str, kind: str) -> Any:
    """Return the class that stands for that of another process."""
    module, _, short = name.rpartition(".")
    return type(short, (_BASES[kind],), {"__slots__": (), "__module__": module})


def _read(value: Written) -> Any:
    """Return a value in this form as objects that :mod:`althaia.trust.differences` compares."""
    name, kind, content = value
    if kind == "value":
        if name in _PLAIN.values():
            try:
                return literal_eval(content)
            except ValueError:  # NaN and infinity.
                pass
        return _class(name, kind)(content)
    if kind == "items":
        return _class(name, kind)(map(_read, content))
    return _class(name, kind)((_read(key), _read(each)) for key, each in content)


def raised(answer: Written) -> str:
    """Return class and message of an :func:`outcome` that is an exception; "" if it is none."""
    if answer[1] != "raised":
        return ""
    error = _read(answer)
    said = error["args"] if error["messages"] is None else [error["messages"]]
    return f"{type(error).__name__}: {', '.join(map(str, said))}"


def first_difference(planned: Written, upstream: Written) -> Difference | None:
    """Return the first difference of two results in this form, or None."""
    if planned == upstream:
        return None
    ours, theirs = _read(planned), _read(upstream)
    if type(ours) is type(theirs) is str:
        return differences.first_difference_of_texts(ours, theirs)
    path = type(ours).__name__ if isinstance(ours, _Raised) and type(ours) is type(theirs) else ""
    return differences.first_difference(ours, theirs, path)
