"""Divides files into partitions, each of which can be read without those before it."""

from __future__ import annotations

import codecs
import io
import os
import stat
from collections import deque
from pathlib import Path

from althaia.bulk.cells import MOST_IN_CELL, TOO_LONG, csv_records, long_cells
from althaia.bulk.inputs import PACKED, STANDARD_INPUT
from althaia.bulk.pieces import BLOCK, BulkError, Partition, naming
from althaia.bulk.records import json_elements

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from althaia.bulk.pieces import Item

FORMS = ("ndjson", "json", "csv", "parquet")
_SUFFIXES = {
    ".ndjson": "ndjson",
    ".jsonl": "ndjson",
    ".json": "json",
    ".csv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
}
PARTITION_BYTES = 8 * 2**20
"""The approximate size of a partition; its records take several times as much memory."""
ELEMENTS = 10_000
"""The most elements of a JSON array in one partition."""


def form_of(file: str, form: str | None = None) -> str:
    """Return the form of a file: ``form`` if it is given, else by the end of its name, without
    ``.gz``. Standard input is NDJSON.

    :raises BulkError: neither says

    >>> form_of("orders.jsonl")
    'ndjson'
    """
    if form is not None:
        if form not in FORMS:
            raise BulkError(f"{form!r} is no form of file: one of {', '.join(FORMS)}")
        return form
    if file == STANDARD_INPUT:
        return "ndjson"
    name = file[: -len(PACKED)] if file.lower().endswith(PACKED) else file
    found = _SUFFIXES.get(Path(name).suffix.lower())
    if found is None:
        raise BulkError(
            f"{file}: its name does not say what it is ({', '.join(_SUFFIXES)}): name the form, "
            f"one of {', '.join(FORMS)}"
        )
    return found


def parted(file: str, form: str, size: int = PARTITION_BYTES) -> Iterator[Partition]:
    """Yield the partitions of ``file`` in order.

    A file with columns has at least one partition, which names them, even without records. A JSON
    array is decoded here, because finding an element requires reading those before it.

    :raises BulkError: the file cannot be read, or is not of that form
    """
    with naming(file):
        found = os.stat(file)
        if form == "json":
            yield from _elements(file, size)
            return
        if not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
            raise BulkError(
                f"{file}: is a pipe or a device, and {form} is read from more than one place: "
                "write it to a file first"
            )
        if form == "parquet":
            yield from _row_groups(file)
            return
        with open(file, "rb") as opened:
            # Files in /proc have the size 0, whatever they contain.
            whole = found.st_size or sum(map(len, iter(lambda: opened.read(BLOCK), b"")))
            opened.seek(0)
            if form == "ndjson":
                yield from _lines(file, opened, whole, size)
            else:
                yield from _quoted_lines(file, opened, whole, size)


def _lines(file: str, opened: io.BufferedReader, whole: int, size: int) -> Iterator[Partition]:
    start = 0
    while start < whole:
        end = _behind_line(opened, min(start + size, whole), whole)
        yield Partition(file, "ndjson", start, end, end - start)
        start = end


def _behind_line(opened: io.BufferedReader, place: int, whole: int) -> int:
    """Return the first position from ``place`` on at which a line has ended."""
    opened.seek(place - 1)
    at = place - 1
    while block := opened.read(BLOCK):
        found = block.find(b"\n")
        if found >= 0:
            return at + found + 1
        at += len(block)
    return whole


def _quoted_lines(
    file: str, opened: io.BufferedReader, whole: int, size: int
) -> Iterator[Partition]:
    columns, head = _columns(file, opened)
    start = at = head
    enough = start + size
    records = _Records(opened)
    for line in opened:
        # Only a line with a quote can end inside a record, or be the last that can be read.
        odd = b'"' in line or len(line) > MOST_IN_CELL
        at += records.take(line) if odd else len(line)
        if not records.readable:
            break
        if at >= enough:
            yield Partition(file, "csv", start, at, at - start, columns)
            start, enough = at, at + size
    else:
        # The file became shorter meanwhile: reading the partition reports the missing part.
        at = max(at, whole)
    if at > start or at == head:
        yield Partition(file, "csv", start, at, at - start, columns)


class _Records:
    """Finds which lines of a CSV file make one record: a quoted cell may contain line breaks.

    The csv module decides, because its rules are many: a quote inside an unquoted cell is text, for
    example.
    """

    def __init__(self, opened: io.BufferedReader) -> None:
        self.readable = True
        self._opened = opened
        self._bytes = 0
        self._lines: deque[str] = deque()
        self._found = csv_records(self._asked())

    def take(self, line: bytes) -> int:
        """Return the number of bytes from ``line`` to where a line and a record end."""
        self._bytes = 0
        self._add(line)
        with long_cells:
            for found in self._found:
                self.readable = found != TOO_LONG
                if not (self._lines and self.readable):
                    break
        return self._bytes

    def _add(self, line: bytes) -> None:
        self._bytes += len(line)
        # For the csv module a lone carriage return ends a line, too.
        self._lines.extend(io.StringIO(line.decode("utf-8", "surrogateescape"), newline=""))

    def _asked(self) -> Iterator[str]:
        while self._lines or (line := self._opened.readline()):
            if not self._lines:
                self._add(line)
            yield self._lines.popleft()


def _columns(file: str, opened: io.BufferedReader) -> tuple[tuple[str, ...], int]:
    """Return the names in the head of a CSV file, and the position of its first record."""
    first = opened.readline()
    mark = codecs.BOM_UTF8 if first.startswith(codecs.BOM_UTF8) else b""
    length = len(mark) + _Records(opened).take(first.removeprefix(mark))
    opened.seek(0)
    try:
        with long_cells:
            columns = next(csv_records([opened.read(length).decode("utf-8-sig")]), [])
    except UnicodeDecodeError as error:
        columns = str(error)
    if isinstance(columns, str):
        raise BulkError(f"{file}: its first line cannot be read: {columns}")
    if not columns:
        raise BulkError(f"{file}: has no line with the names of its columns")
    return _different(file, columns), length


def _different(file: str, columns: Sequence[str]) -> tuple[str, ...]:
    """Return these names of columns; BulkError if two are equal."""
    double = sorted({name for name in columns if columns.count(name) > 1})
    if double:
        raise BulkError(f"{file}: more than one column is named {', '.join(map(repr, double))}")
    return tuple(columns)


def _row_groups(file: str) -> Iterator[Partition]:
    from althaia.bulk.parquet import names_within, opened_parquet

    found = opened_parquet(file)
    with found:
        columns = _different(file, found.schema_arrow.names)
        for kind in found.schema_arrow.types:
            for names in names_within(kind):
                _different(file, names)
        groups = found.num_row_groups
    share = os.path.getsize(file) // max(groups, 1)
    for group in range(max(groups, 1)):
        yield Partition(file, "parquet", group, min(group + 1, groups), share, columns)


def _elements(file: str, size: int) -> Iterator[Partition]:
    batch: list[Item] = []
    start = end = 0

    def partition() -> Partition:
        return Partition(file, "json", batch[0][0], batch[-1][0], end - start, items=tuple(batch))

    for item, end in json_elements(file):
        batch.append(item)
        if end - start >= size or len(batch) == ELEMENTS:
            yield partition()
            batch, start = [], end
    if batch:
        yield partition()
