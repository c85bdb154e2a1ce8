"""Objects and records made from a schema's fields, for measuring it without real data.

They are the same in each run, because figures of two processes are compared. An object has what a
field loads of what it dumps.
"""

import datetime as dt
from collections.abc import Iterator, Mapping
from contextlib import suppress
from copy import deepcopy
from ipaddress import IPv4Address, IPv6Address
from types import SimpleNamespace
from typing import Any

START = dt.datetime(2024, 2, 29, 8, 15, 30)
DEEPEST = 3
"""Levels of a schema nested in itself that are filled in."""
SIZES = (3, 1, 2, 5, 10)
"""Items that a list is offered; else it is empty."""

VALUES = (
    "a text", 7.25, 0.5, 50, 2024, -7, "x", "x" * 10, "x" * 40, True,
    "reader@example.com", "https://example.com/7",
    "00000000-0000-0000-0000-000000000007", START, START.replace(tzinfo=dt.UTC), START.date(),
    START.time(), dt.timedelta(seconds=7), IPv4Address(7), IPv6Address(7),
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
        for size in SIZES if item is not None else ():
            with suppress(Exception):  # Its items need not load what they dump.
                field._validate([item] * size)
                return [item] * size
        return []
    for offered in _offered(field):
        with suppress(Exception):
            return field.deserialize(field._serialize(offered, None, None))
    return VALUES[0]


def _offered(field: Any) -> Iterator[Any]:
    """Yield values, those first that the field or its validators name."""
    yield from getattr(field, "enum", ())
    for validator in field.validators:
        yield from getattr(validator, "choices", None) or ()
        if hasattr(validator, "comparable"):
            yield validator.comparable
    yield from VALUES


def record(schema: Any, dumped: Mapping[str, Any], depth: int = 0) -> dict[str, Any]:
    """Return what a client would send: ``dumped`` without what ``schema`` does not load, and with
    what it only loads."""
    sent = {}
    for name, field in schema.load_fields.items():
        key = name if field.data_key is None else field.data_key
        value = dumped.get(key)
        if key not in dumped and name not in schema.dump_fields:
            value = _value(field, depth)
            with suppress(Exception):
                value = field._serialize(value, None, None) or value
        if key in dumped or value is not None:
            sent[key] = _sent(field, value, depth)
    return sent


def _sent(field: Any, dumped: Any, depth: int) -> Any:
    """Return a dumped value of ``field`` as a client would send it back."""
    if isinstance(dumped, list):
        return [_sent(getattr(field, "inner", field), item, depth) for item in dumped]
    if isinstance(dumped, Mapping) and hasattr(field, "nested") and depth < DEEPEST:
        return record(field.schema, dumped, depth + 1)
    return dumped
