"""Dump a collection as a stream of bytes, without the whole result of ``schema.dumps`` in memory.

The objects are taken from their iterable in batches. Each batch is dumped as a collection, and the
texts are joined without their brackets. Hence every override and hook of the schema is called as
usual. A schema whose result cannot be split in this way is rejected before the first byte.
"""

import json
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator
from inspect import isasyncgenfunction
from itertools import islice
from typing import Any, overload

from althaia import json as althaia_json, seam

# The first batch is small, so that the first bytes are sent soon. Later batches fill a chunk.
FIRST_BATCH = 16
LARGEST_BATCH = 4096

FORMS = (json, althaia_json)
_OWN = ("dump", "dumps", "_serialize", "_invoke_dump_processors", "_invoke_processors")


class StreamError(TypeError):
    """The collection cannot be streamed with the same bytes as ``schema.dumps``."""


@overload
def stream(
    schema: Any,
    iterable: Iterable[Any] | Callable[[], Iterable[Any]],
    *,
    chunk_bytes: int = 65536,
    lines: bool = False,
    **options: Any,
) -> Iterator[bytes]: ...


@overload
def stream(
    schema: Any,
    iterable: AsyncIterable[Any] | Callable[[], AsyncIterable[Any]],
    *,
    chunk_bytes: int = 65536,
    lines: bool = False,
    **options: Any,
) -> AsyncIterator[bytes]: ...
def stream(
    schema: Any,
    iterable: Any,
    *,
    chunk_bytes: int = 65536,
    lines: bool = False,
    **options: Any,
) -> Any:
    """A collection as a stream of JSON in UTF-8, in memory that does not grow with its length.

    :param schema: a schema instance; ``Meta.render_module`` is ``json`` or ``althaia.json``.
    :param iterable: the objects, taken one after the other as they are needed; asynchronous or not.
        Or a function without parameters that returns them: it is called when the first chunk is
        asked for, so that a query begins, and a session is opened, while the stream is read. For
        asynchronous objects it is an asynchronous generator function.
    :param chunk_bytes: how many bytes a chunk has, roughly. The first ones are smaller.
    :param lines: one object a line (NDJSON) instead of an array.
    :param options: as for ``schema.dumps``.
    :returns: an iterator of bytes, asynchronous if ``iterable`` is. Joined, they are
        ``schema.dumps(list(iterable), many=True, **options)``, encoded; with ``lines``,
        ``schema.dumps(each)`` and a newline for each object.
    :raises StreamError: the whole collection would be needed; at once, before the first object is
        taken. The message says why and what to do.
    :raises Exception: what dumping or encoding an object raises; it ends the stream.

    >>> for chunk in althaia.stream(RowSchema(), rows):
    ...     file.write(chunk)
    """
    for why in _reasons(schema, options, lines):
        raise StreamError(why)
    options.pop("cls", None)
    if not isinstance(chunk_bytes, int) or chunk_bytes < 1:
        raise ValueError(f"chunk_bytes is a number of bytes, at least 1, not {chunk_bytes!r}")
    pieces = _Pieces(schema, options, chunk_bytes, lines=lines)
    if callable(iterable) and not isinstance(iterable, Iterable | AsyncIterable):
        iterable = iterable() if isasyncgenfunction(iterable) else _opened(iterable)
    # A query set of Django's is both, and is read as Django reads it.
    if isinstance(iterable, AsyncIterable) and not isinstance(iterable, Iterable):
        return _chunks_later(pieces, iterable)
    return _chunks(pieces, iter(iterable))


def upstream_of(schema: Any) -> dict[str, Any]:
    """Return the original attributes of ``Schema`` of the marshmallow to which a schema belongs:
    our copy, or the real one if the redirect is off.

    :raises StreamError: ``schema`` is no instance of a schema class.
    """
    owner = seam.owner_of(schema)
    if owner is None:
        raise StreamError(f"an instance of a marshmallow schema is needed, not {schema!r}")
    return seam.pristine.get(owner) or dict(vars(owner))


def _reasons(schema: Any, options: dict[str, Any], lines: bool) -> Iterator[str]:
    """Yield why the whole collection is needed; nothing if its text is that of its parts."""
    cls, known = type(schema), upstream_of(schema)
    whose = cls.__qualname__
    for name in _OWN:
        if name in vars(schema) or getattr(cls, name, None) is not known.get(name):
            yield (
                f"{whose} has a {name} of its own, which may need the whole collection; stream "
                f"with a schema that leaves {name} as it is"
            )
    if schema.opts.render_module not in FORMS:
        yield f"{whose} has a form of its own; stream with Meta.render_module = json"
    if options.get("cls") is not None:
        yield "an encoder class may write a collection in its own way; give default=… instead"
    if lines:
        if options.get("indent") is not None:
            yield "one object a line and indent=… exclude each other; leave one of them out"
        return
    for tag in ("pre_dump", "post_dump"):
        for name, for_collection, _ in seam.hooks_of(schema, tag):
            if for_collection:
                yield (
                    f"{whose}.{name} is a {tag} hook with pass_collection=True and needs the whole "
                    "collection; stream with lines=True, or without the hook"
                )


class _Pieces:
    """Encodes a collection batch by batch, as a JSON array or as one object a line.

    :ivar size: how many objects the next chunk takes.
    :ivar end: the bytes after the last object.
    """

    def __init__(
        self, schema: Any, options: dict[str, Any], chunk_bytes: int, *, lines: bool
    ) -> None:
        # Raises for unknown options and, because it encodes something, for invalid values.
        encoder = json.JSONEncoder(**options)
        encoder.encode([])
        self.schema = schema
        self.options = options
        self.chunk_bytes = chunk_bytes
        self.lines = lines
        # These hooks get all objects of a call before the first one is dumped.
        self.at_once = bool(seam.hooks_of(schema, "pre_dump")) or any(
            config.get("pass_original") for _, _, config in seam.hooks_of(schema, "post_dump")
        )
        self.size = FIRST_BATCH
        self.done = 0
        self.separator = encoder.item_separator.encode()
        # With an indent there is a line break before the last bracket.
        self.bracket = b"]" if encoder.indent is None else b"\n]"
        self.end = b"" if lines else b"[]"

    def chunk(self, objects: Iterator[Any]) -> bytes:
        """Return the text of the next objects, which is empty at the end, and learn from its size.

        Each object is dumped before the next one is asked for, unless hooks need them. What the
        iterator closes at its end, such as a session, is open until then.
        """
        before, taken = self.done, self._taken(objects)
        if self.lines:
            made = b"".join([self.one(each) for each in taken])
        else:
            made = self._part(list(taken) if self.at_once else taken, before)
        fitting = self.chunk_bytes * (self.done - before) // max(len(made), 1)
        self.size = max(1, min(fitting, self.size * 4, LARGEST_BATCH))
        return made

    def one(self, obj: Any) -> bytes:
        """Return the text of the next object."""
        if self.lines:
            return althaia_json.dump_bytes(self.schema, obj, many=False, **self.options) + b"\n"
        return self._part((obj,), self.done)

    def _taken(self, objects: Iterator[Any]) -> Iterator[Any]:
        for each in islice(objects, self.size):
            yield each
            self.done += 1

    def _part(self, objects: Iterable[Any], before: int) -> bytes:
        """Return the objects without the brackets around them, with the separator before them."""
        try:
            text = althaia_json.dump_bytes(self.schema, objects, many=True, **self.options)
        except BaseException as error:
            # The index in its note is to count from the start of the collection.
            notes = getattr(error, "__notes__", [""])
            head, _, index = notes[-1].rpartition(" ")
            if head == "when serializing list item":
                notes[-1] = f"{head} {int(index) + before}"
            raise
        if text == b"[]":
            return b""
        self.end = self.bracket
        return (self.separator if before else b"[") + text[1 : -len(self.bracket)]


def _opened(source: Callable[[], Iterable[Any]]) -> Iterator[Any]:
    yield from source()


def _chunks(pieces: _Pieces, objects: Iterator[Any]) -> Iterator[bytes]:
    while made := pieces.chunk(objects):
        yield made
    if pieces.end:
        yield pieces.end


async def _chunks_later(pieces: _Pieces, objects: AsyncIterable[Any]) -> AsyncIterator[bytes]:
    made, least = bytearray(), 1
    async for each in objects:
        # Asking for the next one may close its session.
        made += pieces.one(each)
        pieces.done += 1
        if len(made) >= least:
            least = min(len(made) * 4, pieces.chunk_bytes)
            yield bytes(made)
            made.clear()
    if made or pieces.end:
        yield bytes(made) + pieces.end
