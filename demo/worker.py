"""One process of the demo: does what its standard input says, with ``import marshmallow``.

Started by ``python -m demo.worker`` for upstream and by ``python -m althaia -m demo.worker``
for the compiled copy: the same unchanged program.
"""

from __future__ import annotations

import gc
import hashlib
import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from time import process_time
from typing import Any

import marshmallow
import marshmallow.schema

from demo import data, schemas

QUOTES = 1000
PAGE = 50


class Cases:
    """What is timed, by name: a function without parameters, and how many objects it works on."""

    def __init__(self, database: Path, limit: int | None) -> None:
        self._database = database
        self._limit = limit
        self._made: dict[str, tuple[Callable[[], Any], int]] = {}

    def get(self, name: str) -> tuple[Callable[[], Any], int]:
        if name not in self._made:
            self._made[name] = getattr(self, name)()
        return self._made[name]

    def characters(self) -> tuple[Callable[[], Any], int]:
        schema, rows = schemas.CharacterSchema(many=True), data.rows(self._database, self._limit)
        return lambda: schema.dump(rows), len(rows)

    def page(self) -> tuple[Callable[[], Any], int]:
        schema, quotes = schemas.QuoteSchema(many=True), schemas.quotes(PAGE)
        return lambda: schema.dump(quotes), PAGE

    def text(self) -> tuple[Callable[[], Any], int]:
        schema, quotes = schemas.QuoteSchema(many=True), schemas.quotes(QUOTES)
        return lambda: [schema.dumps(quotes)], QUOTES

    def valid(self) -> tuple[Callable[[], Any], int]:
        schema, records = schemas.OrderSchema(many=True), schemas.orders(QUOTES)
        return lambda: schema.load(records), QUOTES

    def errors(self) -> tuple[Callable[[], Any], int]:
        schema = schemas.OrderSchema(many=True)
        records = schemas.orders(QUOTES, invalid_every=10)

        def refused() -> list[Any]:
            try:
                schema.load(records)
            except marshmallow.ValidationError as error:
                return [error.messages, *error.valid_data]  # type: ignore[misc]
            return []

        return refused, QUOTES

    def instance(self) -> tuple[Callable[[], Any], int]:
        (quote,) = schemas.quotes(1)
        return lambda: [schemas.QuoteSchema().dump(quote)], 1

    def load(self, name: str) -> int:
        return self.get(name)[1]

    def time(self, name: str, repeat: int) -> float:
        """Seconds of processor time for one call, out of ``repeat`` in a row."""
        call, _ = self.get(name)
        gc.collect()
        start = process_time()
        for _ in range(repeat):
            call()
        return (process_time() - start) / repeat

    def digests(self, name: str) -> list[str]:
        """A digest of each result: values, types and the order of keys."""
        return [digest(each) for each in self.get(name)[0]()]

    def row(self, name: str, index: int) -> str:
        return " ".join(canonical(self.get(name)[0]()[index]))


def canonical(value: Any) -> Iterable[str]:
    """The value in words: the exact type of everything in it, and keys in their order."""
    kind = type(value)
    yield f"{kind.__module__}.{kind.__qualname__}"
    if isinstance(value, dict):
        yield "{"
        for key, item in value.items():
            yield from canonical(key)
            yield from canonical(item)
        yield "}"
    elif isinstance(value, (list, tuple)):
        yield "["
        for item in value:
            yield from canonical(item)
        yield "]"
    else:
        yield repr(value)


def digest(value: Any) -> str:
    return hashlib.sha256("\0".join(canonical(value)).encode()).hexdigest()


def library() -> dict[str, Any]:
    """Which marshmallow this process imported: where it was loaded from, what it is made of."""
    spec = marshmallow.schema.__spec__
    return {
        "file": spec.origin if spec else None,
        "ours": sys.modules.get("althaia.marshmallow") is marshmallow,
        "engine": "althaia.engine.door" in sys.modules,
    }


def main(database: str, limit: str) -> None:
    cases = Cases(Path(database), int(limit) or None)
    commands: dict[str, Callable[..., Any]] = {
        "library": library,
        "load": cases.load,
        "time": cases.time,
        "digests": cases.digests,
        "row": cases.row,
    }
    for line in sys.stdin:
        command, *args = json.loads(line)
        print(json.dumps(commands[command](*args)), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
