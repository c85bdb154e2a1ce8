"""What the servers of the pings dump, and the ways to write it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from types import SimpleNamespace

from benchmarks.service.shop import data
from benchmarks.service.shop.schemas import MovementSchema

OBJECTS = int(os.environ["SHOP_OBJECTS"])
CHUNK = 250
"""Objects in a chunk that is written by hand: about as many as fill 64 KiB."""

objects = [SimpleNamespace(**record) for record in data.movements(data.Size(movements=OBJECTS))]
schema = MovementSchema(many=True)


def whole() -> bytes:
    """All at once, as most services do it."""
    text: str = schema.dumps(objects)
    return text.encode()


def by_hand() -> Iterator[bytes]:
    """The same text in chunks, as one writes it without help."""
    opening = b"["
    for start in range(0, len(objects), CHUNK):
        chunk = json.dumps(schema.dump(objects[start : start + CHUNK]))
        yield opening + chunk[1:-1].encode()
        opening = b", "
    yield b"]"


def streamed() -> Iterator[bytes]:
    """The same text, streamed by althaia."""
    from althaia import stream

    yield from stream(MovementSchema(), objects)


CHUNKED = {"/hand": by_hand, "/stream": streamed}
