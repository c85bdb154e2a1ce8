"""Load NDJSON, one object per line; invalid lines are reported and skipped."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from typing import Any, overload

from althaia.streams import upstream_of

READ_BYTES = 65536


@dataclass(frozen=True, slots=True)
class LoadedLine:
    """One line of a stream: the loaded value, or the error."""

    number: int
    """Counted from 1. Blank lines are counted, but not returned."""
    value: Any = None
    """The loaded value; None if there is an error."""
    error: Exception | None = None
    """A ``ValidationError``, or the exception of the render module's ``loads`` for invalid JSON;
    None if the line is valid."""


NumberedLine = tuple[int, bytes | None]
Loader = Callable[[NumberedLine], LoadedLine]


class LineTooLongError(ValueError):
    """A line has more bytes than the caller allows. Its content was discarded."""


@overload
def loads_stream(
    schema: Any,
    source: AsyncIterable[bytes],
    *,
    partial: Any = None,
    unknown: Any = None,
    max_line_bytes: int | None = None,
    **options: Any,
) -> AsyncIterator[LoadedLine]: ...


@overload
def loads_stream(
    schema: Any,
    source: Any,
    *,
    partial: Any = None,
    unknown: Any = None,
    max_line_bytes: int | None = None,
    **options: Any,
) -> Iterator[LoadedLine]: ...
def loads_stream(
    schema: Any,
    source: Any,
    *,
    partial: Any = None,
    unknown: Any = None,
    max_line_bytes: int | None = None,
    **options: Any,
) -> Any:
    """Load NDJSON, one object a line, in memory that does not grow with the number of lines.

    A bad line does not end the stream: it is yielded with its error.

    :param schema: a schema instance; each line is loaded by ``schema.loads(line, many=False)``.
    :param source: a file opened for bytes, or any iterable of bytes, cut anywhere, in UTF-8;
        asynchronous or not.
    :param partial: as for ``schema.loads``, as is ``unknown``; ``options`` are the render
        module's.
    :param max_line_bytes: a longer line is an error and is not kept; None: any length is read.
    :returns: an iterator of :class:`LoadedLine`, asynchronous if ``source`` is: ``number`` from 1,
        ``value``, ``error``. Blank lines are left out. The error is a ``ValidationError``, what
        ``json`` raises for text that it does not read, or a ``LineTooLongError``.
    :raises StreamError: ``schema`` is no instance of a marshmallow schema; at once.
    :raises Exception: what user code raises besides ``ValidationError``; it ends the stream.

    >>> for line in althaia.loads_stream(RowSchema(), open("rows.ndjson", "rb")):
    ...     print(line.number, line.error or line.value)
    """
    invalid = upstream_of(schema)["validate"].__globals__["ValidationError"]
    if max_line_bytes is not None and (not isinstance(max_line_bytes, int) or max_line_bytes < 1):
        raise ValueError(
            f"max_line_bytes is a number of at least 1, or None, not {max_line_bytes!r}"
        )
    lines = Lines(max_line_bytes)

    def load(numbered: NumberedLine) -> LoadedLine:
        number, line = numbered
        if line is None:
            said = f"line {number} has more than {max_line_bytes} bytes (max_line_bytes)"
            return LoadedLine(number, error=LineTooLongError(said))
        try:
            value = schema.loads(line, many=False, partial=partial, unknown=unknown, **options)
        except invalid as error:
            return LoadedLine(number, error=error)
        except (ValueError, RecursionError) as error:
            try:
                schema.opts.render_module.loads(line, **options)
            except (ValueError, RecursionError):
                return LoadedLine(number, error=error)
            # Not the text: somebody's own code raised it.
            raise
        return LoadedLine(number, value)

    if isinstance(source, AsyncIterable):
        return _load_later(load, lines, source)
    return _load(load, lines, _chunks(source))


class Lines:
    """Splits chunks of bytes into numbered lines, and keeps the beginning of an incomplete line."""

    def __init__(self, most: int | None = None) -> None:
        self.most = most
        self.number = 0
        self.parts: list[bytes] = []
        self.size = 0

    def feed(self, chunk: bytes) -> Iterator[NumberedLine]:
        """Yield the lines that a chunk completes, except blank ones; None for a line that is too
        long."""
        if not isinstance(chunk, (bytes, bytearray, memoryview)):
            raise TypeError(
                f"chunks of bytes are needed, not {type(chunk).__name__}; open a file with 'rb'"
            )
        first, *others = bytes(chunk).split(b"\n")
        self._keep(first)
        for other in others:
            yield from self.end()
            self._keep(other)

    def end(self) -> Iterator[NumberedLine]:
        """Yield the incomplete line at the end of the stream as a line."""
        self.number += 1
        too_long = self.most is not None and self.size > self.most
        line = None if too_long else b"".join(self.parts)
        self.parts.clear()
        self.size = 0
        if line is None or line.strip():
            yield self.number, line

    def _keep(self, part: bytes) -> None:
        self.size += len(part)
        if self.most is not None and self.size > self.most:
            self.parts.clear()
        elif part:
            self.parts.append(part)


def _chunks(source: Any) -> Iterator[bytes]:
    read = getattr(source, "read", None)
    return iter(source) if read is None else iter(lambda: read(READ_BYTES), b"")


def _load(load: Loader, lines: Lines, chunks: Iterator[bytes]) -> Iterator[LoadedLine]:
    for chunk in chunks:
        yield from map(load, lines.feed(chunk))
    yield from map(load, lines.end())


async def _load_later(
    load: Loader, lines: Lines, chunks: AsyncIterable[bytes]
) -> AsyncIterator[LoadedLine]:
    async for chunk in chunks:
        for line in lines.feed(chunk):
            yield load(line)
    for line in lines.end():
        yield load(line)
