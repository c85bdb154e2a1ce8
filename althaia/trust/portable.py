"""Converts a result to JSON, so that the results of two processes can be compared.

Each value is a list: its type's name, the kind of what follows, and that.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from althaia.trust.differences import OF_AN_ERROR, Difference, below, own_attributes

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
LONGEST = 100

Written = list[Any]
_PLAIN = {cls: f"builtins.{cls.__name__}" for cls in (str, int, float, bool, type(None))}


def outcome(call: Callable[..., Any], *args: Any, **options: Any) -> Written:
    """Return the result or the exception of a call in this form."""
    try:
        return written(call(*args, **options))
    except Exception as error:
        return written(error)


def is_raised(answer: Written) -> bool:
    """Return whether an :func:`outcome` is an exception."""
    return bool(answer[1] == "raised")


def written(value: Any, above: tuple[int, ...] = ()) -> Written:
    """Return a value as plain data that differs for values of different types.

    Objects of user classes are represented by their attributes. A value inside itself is only
    named.
    """
    cls = type(value)
    if cls in _PLAIN:
        text = repr(value)
        return [_PLAIN[cls], "value", _ADDRESS.sub("", text) if " at 0x" in text else text]
    name = f"{cls.__module__}.{cls.__qualname__}".removeprefix("althaia.")
    if id(value) in above:
        return [name, "again", ""]
    inside = (*above, id(value))
    if isinstance(value, BaseException):
        parts = {each: getattr(value, each, None) for each in ("args", *OF_AN_ERROR, "__notes__")}
        return [name, "raised", _pairs(parts, inside)]
    if isinstance(value, Mapping):
        return [name, "keys", _pairs(value, inside)]
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray, memoryview)):
        return [name, "items", [written(each, inside) for each in value]]
    if isinstance(value, (set, frozenset)):
        return [name, "set", sorted((written(each, inside) for each in value), key=repr)]
    plain_repr: object = object.__repr__
    if type(value).__repr__ is plain_repr and (attributes := own_attributes(value)):
        return [name, "keys", _pairs(attributes, inside)]
    return [name, "value", _ADDRESS.sub("", _repr(value))]


def _repr(value: Any) -> str:
    try:
        return repr(value)
    except Exception as error:
        return f"(its repr raises {type(error).__name__})"


def _pairs(mapping: Mapping[Any, Any], inside: tuple[int, ...]) -> list[Any]:
    """Return the items of a mapping. A key is represented by its part of a path, its type and its
    repr."""
    return [[*_key(key), written(mapping[key], inside)] for key in mapping]


def _key(key: Any) -> tuple[str, str]:
    return (
        _text_key(key)
        if type(key) is str
        else (below("", key), f"{type(key).__qualname__} {_repr(key)}")
    )


@lru_cache
def _text_key(key: str) -> tuple[str, str]:
    return below("", key), f"str {key!r}"


def first_difference(planned: Written, upstream: Written) -> Difference | None:
    """Return the first difference of two results in this form, or None."""
    return None if planned == upstream else _difference(planned, upstream, "")


def _difference(planned: Written, upstream: Written, path: str) -> Difference | None:
    if planned[:2] != upstream[:2]:
        return Difference(path, shortened(planned, True), shortened(upstream, True))
    kind, ours, theirs = planned[1], planned[2], upstream[2]
    if kind == "keys":
        return _of_keys(ours, theirs, path)
    if kind == "raised":
        return _of_keys(ours, theirs, planned[0].rpartition(".")[2])
    if kind == "items":
        return _of_items(ours, theirs, path)
    return None if ours == theirs else Difference(path, *_both_shortened(planned, upstream))


def _both_shortened(planned: Written, upstream: Written) -> tuple[str, str]:
    """Return both values as text; of long texts only the part from the difference on."""
    ours, theirs = plain(planned), plain(upstream)
    if min(len(ours), len(theirs)) <= LONGEST:
        return shortened(planned), shortened(upstream)
    pairs = enumerate(zip(ours, theirs, strict=False))
    place = next((index for index, (one, other) in pairs if one != other), 0)
    start = max(place - 20, 0)
    one, other = (f"…{each[start : start + LONGEST]}…" for each in (ours, theirs))
    return one, other


def _of_items(ours: list[Any], theirs: list[Any], path: str) -> Difference | None:
    for index, (one, other) in enumerate(zip(ours, theirs, strict=False)):
        if found := _difference(one, other, f"{path}[{index}]"):
            return found
    if len(ours) == len(theirs):
        return None
    index = min(len(ours), len(theirs))
    one, other = (
        shortened(each[index]) if index < len(each) else "(missing)" for each in (ours, theirs)
    )
    return Difference(f"{path}[{index}]", one, other)


def _of_keys(ours: list[Any], theirs: list[Any], path: str) -> Difference | None:
    mine, others = ({key: value for _, key, value in pairs} for pairs in (ours, theirs))
    for step, key, value in ours:
        place = _joined(path, step)
        if key not in others:
            return Difference(place, shortened(value), "(missing)")
        if found := _difference(value, others[key], place):
            return found
    for step, key, value in theirs:
        if key not in mine:
            return Difference(_joined(path, step), "(missing)", shortened(value))
    if list(mine) == list(others):
        return None
    return Difference(f"{path} (order of keys)".lstrip(), ", ".join(mine), ", ".join(others))


def _joined(path: str, step: str) -> str:
    return f"{path}.{step}" if path and not step.startswith("[") else f"{path}{step}"


def shortened(value: Written, with_type: bool = False) -> str:
    """Return a value in this form as shortened text."""
    name, kind, content = value
    name = name.removeprefix("builtins.")
    if kind == "raised":
        messages = next((each for _, key, each in content if key == "str 'messages'"), None)
        says = content[0][2] if messages is None or messages[0].endswith("NoneType") else messages
        text, with_type = f"{name}({plain(says)})", False
    else:
        text = plain(value)
    text = text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
    return f"{name} {text}" if with_type else text


def plain(value: Written) -> str:
    """Return a value in this form roughly as Python source."""
    _, kind, content = value
    if kind in ("keys", "raised"):
        pairs = (f"{key.partition(' ')[2]}: {plain(each)}" for _, key, each in content)
        return f"{{{', '.join(pairs)}}}"
    if kind in ("items", "set"):
        return f"[{', '.join(map(plain, content))}]"
    return "…" if kind == "again" else str(content)
