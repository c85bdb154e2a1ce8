"""Objects and records made from a schema's fields, for measuring it without real data.

They are the same in each run, because figures of two processes are compared. A value is right for
a field if the field loads what it dumps of it, and validates it.
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Iterator, Mapping
from contextlib import suppress
from copy import deepcopy
from decimal import Decimal
from ipaddress import IPv4Address, IPv6Address
from math import isfinite
from types import SimpleNamespace
from typing import Any

START = dt.datetime(2024, 2, 29, 8, 15, 30)
DEEPEST = 3
"""Levels of a schema nested in itself that are filled in."""

VALUES = (
    "a text", 7.25, 7, True, Decimal("7.25"), "reader@example.com", "https://example.com/7",
    uuid.UUID(int=7), START, START.replace(tzinfo=dt.UTC), START.date(), START.time(),
    dt.timedelta(seconds=7), IPv4Address(7), IPv6Address(7),
)  # fmt: skip
"""What a field is offered, one after the other. The first also serves where nothing fits."""


def sources(schema: Any, count: int) -> list[Any]:
    """Objects for ``schema`` to dump, with the attributes its fields read; all are equal."""
    one = _source(schema, 0)
    return [deepcopy(one) for _ in range(count)]


def _source(schema: Any, depth: int) -> Any:
    source = SimpleNamespace()
    for name, field in schema.dump_fields.items():
        if not getattr(field, "_CHECK_ATTRIBUTE", True):
            continue
        *path, last = (field.attribute or name).split(".")
        holder = source
        for step in path:
            holder = vars(holder).setdefault(step, SimpleNamespace())
        value = _value(field, depth)
        if value is not None:
            setattr(holder, last, value)
    return source


def _value(field: Any, depth: int) -> Any:
    if hasattr(field, "nested"):
        if depth >= DEEPEST:
            return None
        inner = field.schema
        one = _source(inner, depth + 1)
        return [one, deepcopy(one)] if field.many or inner.many else one
    if hasattr(field, "tuple_fields"):
        return tuple(_value(each, depth) for each in field.tuple_fields)
    if hasattr(field, "key_field"):
        pair = (field.key_field, field.value_field)
        key, value = (_value(each, depth) if each else VALUES[0] for each in pair)
        return {key: value}
    if hasattr(field, "inner"):
        item = _value(field.inner, depth)
        sizes = (3, *_bounds(field)) if item is not None else ()
        offered = ([item] * min(int(size), 1_000) for size in sizes)
        return next((each for each in offered if _fits(field, each)), [])
    return next((each for each in _offered(field) if _fits(field, each)), VALUES[0])


def _fits(field: Any, value: Any) -> bool:
    """Return whether a value comes back through the field with its type, and is valid."""
    with suppress(Exception):
        if isinstance(value, list):  # Nested schemas need not load what they dump.
            field._validate(value)
            return True
        return type(field.deserialize(field._serialize(value, None, None))) is type(value)
    return False


def _offered(field: Any) -> Iterator[Any]:
    """Yield values, those first that the field or its validators name."""
    yield from getattr(field, "enum", ())
    for validator in field.validators:
        yield from getattr(validator, "choices", None) or ()
        if hasattr(validator, "comparable"):
            yield validator.comparable
    yield from VALUES
    for bound in _bounds(field):
        yield from (bound, int(bound), Decimal(str(bound)), "x" * min(int(bound), 1_000))


def _bounds(field: Any) -> list[float]:
    """Return the bounds that the validators set, and what is between them."""
    found = [getattr(validator, name, None) for validator in field.validators
             for name in ("equal", "min", "max")]  # fmt: skip
    bounds = [float(each) for each in found if isinstance(each, (int, float, Decimal))]
    bounds = [each for each in bounds if isfinite(each)]
    return [*bounds, sum(bounds) / len(bounds)] if bounds else []


def records(schema: Any, dumped: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return what a client would send: ``dumped`` without what ``schema`` does not load, and with
    what it only loads."""
    return [_record(schema, each, 0) for each in dumped]


def _record(schema: Any, dumped: Mapping[str, Any], depth: int) -> dict[str, Any]:
    record = {}
    for name, field in schema.load_fields.items():
        key = field.data_key if field.data_key is not None else name
        value = dumped.get(key)
        if key not in dumped and name not in schema.dump_fields:
            value = _value(field, depth)
            with suppress(Exception):
                value = field._serialize(value, None, None) or value
        if key in dumped or value is not None:
            record[key] = _sent(field, value, depth)
    return record


def _sent(field: Any, dumped: Any, depth: int) -> Any:
    """Return a dumped value of ``field`` as a client would send it back."""
    if isinstance(dumped, list):
        return [_sent(getattr(field, "inner", field), item, depth) for item in dumped]
    if isinstance(dumped, Mapping) and hasattr(field, "nested") and depth < DEEPEST:
        return _record(field.schema, dumped, depth + 1)
    return dumped
