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
from time import perf_counter
from typing import Any

import marshmallow.schema

from demo import data, schemas


class Cases:
    """What can be dumped: a case's name is ``characters`` or ``quotes:<count>``."""

    def __init__(self, database: Path, limit: int | None) -> None:
        self._database = database
        self._limit = limit
        self._loaded: dict[str, tuple[marshmallow.Schema, list[Any]]] = {}

    def get(self, name: str) -> tuple[marshmallow.Schema, list[Any]]:
        if name not in self._loaded:
            kind, _, count = name.partition(":")
            if kind == "characters":
                self._loaded[name] = (
                    schemas.CharacterSchema(many=True),
                    data.rows(self._database, self._limit),
                )
            else:
                self._loaded[name] = schemas.QuoteSchema(many=True), schemas.quotes(int(count))
        return self._loaded[name]

    def load(self, name: str) -> int:
        return len(self.get(name)[1])

    def time(self, name: str, repeat: int) -> float:
        """Seconds for one dump, out of ``repeat`` in a row."""
        schema, rows = self.get(name)
        gc.collect()
        start = perf_counter()
        for _ in range(repeat):
            schema.dump(rows)
        return (perf_counter() - start) / repeat

    def digests(self, name: str) -> list[str]:
        """A digest of each dumped row: values, types and the order of keys."""
        schema, rows = self.get(name)
        return [digest(row) for row in schema.dump(rows)]

    def row(self, name: str, index: int) -> str:
        schema, rows = self.get(name)
        return " ".join(canonical(schema.dump(rows)[index]))


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
        # Its modules are compiled; upstream's own may be Python, see the Makefile.
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
