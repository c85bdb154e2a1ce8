"""Records and objects made from a schema's fields, for measuring it without real data.

They are the same in each run, because figures of two processes are compared. A field class is
recognised by the names of its bases, so that it may come from either marshmallow.
"""

from __future__ import annotations

import datetime as dt
import ipaddress
import math
import uuid
from collections.abc import Callable, Mapping
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

START = dt.datetime(2024, 2, 29, 8, 15, 30)
DEEPEST = 3
"""Levels of a schema nested in itself that are filled in."""

Maker = Callable[[Any, int], Any]

VALUES: dict[str, Maker] = {
    "Email": lambda field, i: f"reader{i}@example.com",
    "Url": lambda field, i: f"https://example.com/{i}",
    "UUID": lambda field, i: uuid.UUID(int=i + 1),
    "String": lambda field, i: _text(field, i),
    "Integer": lambda field, i: math.floor(_number(field, i)),
    "Float": lambda field, i: float(_number(field, i)),
    "Decimal": lambda field, i: _number(field, i),
    "Number": lambda field, i: math.floor(_number(field, i)),
    "Boolean": lambda field, i: i % 2 == 0,
    "AwareDateTime": lambda field, i: (START + dt.timedelta(minutes=i)).replace(tzinfo=dt.UTC),
    "DateTime": lambda field, i: START + dt.timedelta(minutes=i),
    "Time": lambda field, i: dt.time(i % 24, i % 60),
    "Date": lambda field, i: START.date() + dt.timedelta(days=i % 900),
    "TimeDelta": lambda field, i: dt.timedelta(seconds=i),
    "IPv6": lambda field, i: ipaddress.IPv6Address(i + 1),
    "IP": lambda field, i: ipaddress.IPv4Address(i + 1),
    "Enum": lambda field, i: list(field.enum)[i % len(field.enum)],
    "Constant": lambda field, i: field.constant,
}
"""What an object has in the attribute that a field of this class reads."""


def sources(schema: Any, count: int) -> list[Any]:
    """Objects for ``schema`` to dump, with the attributes its fields read."""
    return [_source(schema, i, 0) for i in range(count)]


def _source(schema: Any, i: int, depth: int) -> Any:
    source = SimpleNamespace()
    for name, field in schema.dump_fields.items():
        if not getattr(field, "_CHECK_ATTRIBUTE", True):
            continue
        *path, last = (field.attribute or name).split(".")
        holder = source
        for step in path:
            if not hasattr(holder, step):
                setattr(holder, step, SimpleNamespace())
            holder = getattr(holder, step)
        value = _value(field, i, depth)
        if value is not None:
            setattr(holder, last, value)
    return source


def _value(field: Any, i: int, depth: int) -> Any:
    names = [cls.__name__ for cls in type(field).__mro__]
    if "Nested" in names:
        if depth >= DEEPEST:
            return None
        inner = field.schema
        one = _source(inner, i, depth + 1)
        return [one, _source(inner, i + 1, depth + 1)] if field.many or inner.many else one
    if "List" in names:
        low, high = _bounds(field)
        size = max(int(low or 0), min(3, int(high) if high is not None else 3))
        choices = _choices(field)
        items = [
            choices[(i + k) % len(choices)] if choices else _value(field.inner, i + k, depth)
            for k in range(size)
        ]
        return [item for item in items if item is not None]
    if "Tuple" in names:
        return tuple(_value(inner, i, depth) for inner in field.tuple_fields)
    if "Mapping" in names:
        key_field = field.key_field
        keys = [_value(key_field, i + k, depth) if key_field else f"key{k}" for k in (0, 1)]
        value = _value(field.value_field, i, depth) if field.value_field else i
        return dict.fromkeys(keys, value)
    choices = _choices(field)
    if choices:
        return choices[i % len(choices)]
    maker = next((VALUES[name] for name in names if name in VALUES), None)
    return maker(field, i) if maker else f"value {i}"


def _choices(field: Any) -> list[Any]:
    """Return the values that a ``OneOf``, ``ContainsOnly`` or ``Equal`` leaves."""
    for validator in field.validators:
        if choices := getattr(validator, "choices", None):
            return list(choices)
        if hasattr(validator, "comparable"):
            return [validator.comparable]
    return []


def _text(field: Any, i: int) -> str:
    low, high = _bounds(field)
    text = f"text {i}".ljust(int(low or 0), "x")
    return text[: int(high)] if high is not None else text


def _number(field: Any, i: int) -> Decimal:
    """Return a number within the bounds; an integer is what is below it."""
    low, high = (None if bound is None else Decimal(str(bound)) for bound in _bounds(field))
    if low is None:
        low = Decimal(0) if high is None or high > 0 else high - 1_000
    # Of 1,000 shares none is at a bound, and neighbours are far apart.
    share = Decimal((i * 377 + 63) % 1_000) / 1_000
    return low + ((low + 1_000 if high is None else high) - low) * (share or Decimal("0.5"))


def _bounds(field: Any) -> tuple[Any, Any]:
    """Return the narrowest bounds that the validators set, None where there is none."""
    lows, highs = [], []
    for validator in field.validators:
        exact = getattr(validator, "equal", None)
        if exact is not None:
            return exact, exact
        lows.append(getattr(validator, "min", None))
        highs.append(getattr(validator, "max", None))
    low = max((bound for bound in lows if bound is not None), default=None)
    return low, min((bound for bound in highs if bound is not None), default=None)


def records(schema: Any, dumped: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return what a client would send: ``dumped`` without what ``schema`` does not load, and with
    what it only loads."""
    return [_record(schema, one, i, 0) for i, one in enumerate(dumped)]


def _record(schema: Any, dumped: Mapping[str, Any], i: int, depth: int) -> dict[str, Any]:
    record = {}
    for name, field in schema.load_fields.items():
        key = field.data_key if field.data_key is not None else name
        if key in dumped:
            record[key] = _sent(field, dumped[key], i, depth)
        elif name not in schema.dump_fields:
            value = _value(field, i, DEEPEST)
            plain = value is None or isinstance(value, (str, int, float, bool))
            record[key] = value if plain else str(value)
    return record


def _sent(field: Any, dumped: Any, i: int, depth: int) -> Any:
    """Return a dumped value of ``field`` as a client would send it back."""
    names = [cls.__name__ for cls in type(field).__mro__]
    if isinstance(dumped, list) and "List" in names:
        return [_sent(field.inner, item, i, depth) for item in dumped]
    if isinstance(dumped, Mapping) and "Mapping" in names and field.value_field:
        return {key: _sent(field.value_field, item, i, depth) for key, item in dumped.items()}
    if "Nested" not in names or "Pluck" in names or depth >= DEEPEST:
        return dumped
    if isinstance(dumped, list):
        return [_record(field.schema, item, i, depth + 1) for item in dumped]
    return _record(field.schema, dumped, i, depth + 1) if isinstance(dumped, Mapping) else dumped
