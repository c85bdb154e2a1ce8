"""The calls that are timed, and nothing around them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from benchmarks.model import Marshmallow, Work


def dump_work(schema: Any, source: Any) -> Work:
    return lambda: schema.dump(source)


def dumps_work(schema: Any, source: Any, **options: Any) -> Work:
    return lambda: schema.dumps(source, **options)


def loads_work(schema: Any, records: Any) -> Work:
    text = json.dumps(records)
    return lambda: schema.loads(text)


def load_work(ma: Marshmallow, schema: Any, records: Any) -> Work:
    """Load ``records``; invalid input answers with its errors and what was valid."""
    invalid = ma.ValidationError

    def load() -> object:
        try:
            return schema.load(records)
        except invalid as error:
            return Invalid(error.messages, error.valid_data)

    return load


class Invalid:
    """What a load that failed gave: messages, and the data that was valid."""

    __slots__ = ("messages", "valid")

    def __init__(self, messages: Any, valid: Any) -> None:
        self.messages = messages
        self.valid = valid

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Invalid) and (self.messages, self.valid) == (
            other.messages,
            other.valid,
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Invalid({self.messages!r}, {self.valid!r})"


class Rejected:
    """What another library's failed load gave: where the errors are, not how they read."""

    __slots__ = ("paths",)

    def __init__(self, paths: Iterable[tuple[Any, ...]]) -> None:
        self.paths = sorted(paths, key=repr)


class Written:
    """What another library wrote as JSON, read again: spaces and escapes are its own."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def paths_of(messages: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where a marshmallow error tree has messages, in the order :class:`Rejected` keeps.

    >>> paths_of({0: {"name": ["Missing."], "age": ["Too low.", "Odd."]}})
    [(0, 'age'), (0, 'name')]
    """
    if not isinstance(messages, Mapping):
        return [path]
    below = [leaf for key, tree in messages.items() for leaf in paths_of(tree, (*path, key))]
    return sorted(below, key=repr)
