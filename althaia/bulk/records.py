"""Reads the records of a partition, each with its position in the partition."""

from __future__ import annotations

import codecs
import io
import json
import re
from itertools import chain

from althaia.bulk.cells import csv_records, long_cells
from althaia.bulk.pieces import BLOCK, BulkError, naming

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from althaia.bulk.pieces import Item, Partition

MOST_CHARACTERS = 64 * 2**20
"""The most characters of an element of a JSON array; a longer one is treated as unterminated."""
_NEAR = 16
"""In characters. An error this close to the end of the buffer may go away when more is read: the
longest tokens that a block can cut in two are ``-Infinity`` and an escaped character."""
_NOT_UTF8 = "not UTF-8"
_spaces = re.compile(r"[ \t\r\n]*").match


class Unreadable:
    """A record that is not valid in its form; ``text`` is the reason."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


def items(partition: Partition) -> Iterator[Item]:
    """Yield the records of ``partition``, numbered from 1 by lines, rows or elements."""
    return _READERS[partition.form](partition)


def lines_in(partition: Partition) -> int:
    """Return how many lines or rows a partition has, to number those of the next one."""
    if partition.form in ("ndjson", "csv"):
        return sum(block.count(b"\n") for block in _blocks(partition))
    if partition.form == "parquet":
        from althaia.bulk.parquet import opened_parquet

        with opened_parquet(partition.path) as opened:
            found = map(opened.metadata.row_group, _groups(partition))
            return sum(int(group.num_rows) for group in found)
    # Elements of an array already have numbers that count from its beginning.
    return 0


def _bytes(partition: Partition) -> bytes:
    return b"".join(_blocks(partition))


def _blocks(partition: Partition) -> Iterator[bytes]:
    return _pieces(partition, lambda opened, left: opened.read(min(left, BLOCK)))


def _lines(partition: Partition) -> Iterator[bytes]:
    """Read one line at a time: staying in the processor's cache saves more than large reads."""
    return _pieces(partition, io.BufferedReader.readline)


def _pieces(
    partition: Partition, read: Callable[[io.BufferedReader, int], bytes]
) -> Iterator[bytes]:
    """Yield blocks until all bytes are read; ``read`` is given how many are left.

    :raises BulkError: the file cannot be read
    """
    left = partition.end - partition.start
    with naming(partition.file), open(partition.path, "rb") as opened:
        opened.seek(partition.start)
        while piece := read(opened, left):
            yield piece
            left -= len(piece)
    if left:
        raise BulkError(f"{partition.file}: became shorter while it was read")


def _ndjson(partition: Partition) -> Iterator[Item]:
    decode = json.JSONDecoder().decode
    for number, line in enumerate(_lines(partition), 1):
        text = line.removesuffix(b"\n")
        if number == 1 and partition.start == 0:
            text = text.removeprefix(codecs.BOM_UTF8)
        if not text or text.isspace():
            continue
        try:
            yield number, decode(text.decode())
        except (ValueError, RecursionError) as error:
            # Only the last line of a file may lack its line break.
            ending = "" if line.endswith(b"\n") else "; the file ends within this line"
            yield number, Unreadable(f"not JSON: {error}{ending}")


def json_elements(file: str) -> Iterator[tuple[Item, int]]:
    """Yield each element of an array, decoded while it is read, and about where it ends."""
    with open(file, "rb") as opened:
        text = _Text(opened)
        number = 1
        try:
            text.expect("[")
            separator = text.expect("]") if text.character() == "]" else ","
            while separator == ",":
                yield (number, text.element()), text.place()
                # An error from here on does not belong to this element.
                number += 1
                separator = text.expect(",", "]")
            if text.character():
                raise ValueError("there is more behind the array")
        except (ValueError, RecursionError) as error:
            yield (number, Unreadable(f"not JSON: {error}; the rest is not read")), text.place()


class _Text:
    """JSON text, read in blocks and discarded once it is decoded."""

    def __init__(self, file: io.BufferedReader) -> None:
        self._file = file
        # surrogateescape: an invalid byte becomes a lone surrogate, which UTF-8 never contains.
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("surrogateescape")
        self._decode = json.JSONDecoder().raw_decode
        self._text = ""
        self._at = 0
        self._bytes = 0
        self._ended = False
        self._broken = False

    def place(self) -> int:
        """The approximate number of bytes read; text in the buffer is counted in characters."""
        return self._bytes - (len(self._text) - self._at)

    def character(self) -> str:
        """Return the next character that is not white space, "" at the end."""
        while True:
            self._at = _spaces(self._text, self._at).end()  # type: ignore[union-attr]
            if self._at < len(self._text) or not self._more(BLOCK):
                return self._text[self._at : self._at + 1]

    def expect(self, *characters: str) -> str:
        """Consume the next character; ValueError if it is none of these."""
        found = self.character()
        if found not in characters or not found:
            wanted = " or ".join(map(repr, characters))
            raise ValueError(f"expected {wanted}, found {repr(found) if found else 'the end'}")
        self._at += 1
        return found

    def element(self) -> Any:
        """Consume the next value; Unreadable if it is not UTF-8, ValueError if there is none."""
        self.character()
        size = BLOCK
        while True:
            try:
                value, end = self._decode(self._text, self._at)
            except json.JSONDecodeError as error:
                place, length = error.pos - self._at, len(self._text) - self._at
                unfinished = place > length - _NEAR or "Unterminated" in error.msg
                if unfinished and length < MOST_CHARACTERS and self._more(size):
                    # Read twice as much each time, so that a long element is decoded few times.
                    size *= 2
                    continue
                # Report the position in the element; that in the buffer means nothing to a user.
                raise json.JSONDecodeError(error.msg, self._text[self._at :], place) from error
            length = end - self._at
            # The block may end in the middle of a number: in "1.", "1e" or "1e+".
            if end < len(self._text) - len("e+") or not self._more(size):
                begin = self._at
                self._at += length
                if self._broken and _has_surrogates(self._text[begin : self._at]):
                    return Unreadable(_NOT_UTF8)
                return value

    def _more(self, size: int) -> bool:
        if self._ended:
            return False
        block = self._file.read(size)
        self._bytes += len(block)
        self._ended = not block
        more = self._decoder.decode(block, final=self._ended)
        self._broken = self._broken or _has_surrogates(more)
        self._text = self._text[self._at :] + more
        self._at = 0
        return not self._ended


def _json(partition: Partition) -> Iterator[Item]:
    return iter(partition.items)


def _csv(partition: Partition) -> Iterator[Item]:
    text = _bytes(partition).decode("utf-8", "surrogateescape")
    columns = partition.columns
    lines = io.StringIO(text, newline="")
    number, at = 1, 0
    with long_cells:
        for cells in csv_records(lines):
            # The csv module counts a lone "\r" as the end of a line.
            before, at = at, lines.tell()
            breaks = text.count("\n", before, at)
            if isinstance(cells, str):
                yield number, Unreadable(cells)
            elif len(cells) == len(columns):
                record: Any = dict(zip(columns, cells, strict=True))
                if not text.isascii() and any(map(_has_surrogates, cells)):
                    record = Unreadable(_NOT_UTF8)
                yield number, record
            elif cells:
                yield number, Unreadable(f"{len(cells)} cells where the head has {len(columns)}")
            number += breaks


def _has_surrogates(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _groups(partition: Partition) -> range:
    """Return the numbers of the groups of rows."""
    return range(partition.start, partition.end)


def _parquet(partition: Partition) -> Iterator[Item]:
    from althaia.bulk.parquet import rows

    found = chain.from_iterable(rows(partition.path, group) for group in _groups(partition))
    for number, row in enumerate(found, 1):
        if isinstance(row, Exception):
            yield number, Unreadable(f"has a value that cannot be read: {row}")
        else:
            yield number, row


_READERS = {"ndjson": _ndjson, "json": _json, "csv": _csv, "parquet": _parquet}
