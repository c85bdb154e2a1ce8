"""Files parted into pieces that can be read alone, each without reading those before it."""

from __future__ import annotations

import codecs
import csv
import io
import os
import stat
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator

    from althaia.bulk.readers import Item

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
"""About how much of a file one partition holds; its records take some times as much memory."""
ELEMENTS = 10_000
"""Of a JSON array in one partition, at most."""
BLOCK = 2**20


class BulkError(Exception):
    """A file or an option that nothing can be done with; the text says which, and why."""


@dataclass(frozen=True, slots=True)
class Partition:
    """A piece of a file: bytes ``start`` to ``end``; in Parquet a group of rows by its number;
    of a JSON array the elements from ``start`` to ``end``, which it brings along as ``items``.

    ``columns`` are the names of the columns, in CSV and Parquet. ``share`` is about how many
    bytes of the file it stands for. ``place`` is that of the file among those that are read: one
    may be named twice.
    """

    file: str
    form: str
    start: int
    end: int
    share: int
    columns: tuple[str, ...] = ()
    items: tuple[Item, ...] = ()
    place: int = 0

    def __str__(self) -> str:
        if self.form == "parquet":
            return f"{self.file}, row group {self.start + 1}"
        if self.form == "json":
            return f"{self.file}, elements {self.start:,} to {self.end:,}"
        return f"{self.file}, bytes {self.start:,} to {self.end:,}"


def form_of(file: str, form: str | None = None) -> str:
    """The form of a file: ``form`` where it is given, else by the name's end.

    :raises BulkError: neither says

    >>> form_of("orders.jsonl")
    'ndjson'
    """
    if form is not None:
        if form not in FORMS:
            raise BulkError(f"{form!r} is no form of file: one of {', '.join(FORMS)}")
        return form
    found = _SUFFIXES.get(Path(file).suffix.lower())
    if found is None:
        raise BulkError(
            f"{file}: its name does not say what it is ({', '.join(_SUFFIXES)}): name the form, "
            f"one of {', '.join(FORMS)}"
        )
    return found


@contextmanager
def reading(file: str) -> Iterator[None]:
    """Give what the system says against reading ``file`` as a BulkError that names it."""
    try:
        yield
    except OSError as error:
        raise BulkError(f"{file}: {error.strerror or error}") from error


def parted(file: str, form: str, size: int = PARTITION_BYTES) -> Iterator[Partition]:
    """The partitions of ``file`` in order, found as they are asked for.

    A JSON array is decoded here: where an element begins is known only to who read those before.

    :raises BulkError: the file cannot be read, or is not of that form
    """
    with reading(file):
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
            if form == "ndjson":
                yield from _lines(file, opened, found.st_size, size)
            else:
                yield from _quoted_lines(file, opened, found.st_size, size)


def _lines(file: str, opened: io.BufferedReader, whole: int, size: int) -> Iterator[Partition]:
    start = 0
    while start < whole:
        end = _behind_line(opened, min(start + size, whole), whole)
        yield Partition(file, "ndjson", start, end, end - start)
        start = end


def _behind_line(opened: io.BufferedReader, place: int, whole: int) -> int:
    """The first place at or behind ``place`` where a line has just ended."""
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
    columns, start = _columns(file, opened)
    at, enough = start, start + size
    for line in opened:
        at += len(_record(line, opened)) if b'"' in line else len(line)
        if at >= enough:
            yield Partition(file, "csv", start, at, at - start, columns)
            start, enough = at, at + size
    # Of a file that became shorter a part is missing, which is noticed where it is read.
    at = max(at, whole)
    if at > start:
        yield Partition(file, "csv", start, at, at - start, columns)


def _record(first: bytes, opened: io.BufferedReader) -> bytes:
    """The record of CSV whose first line was read; a cell in quotes may have breaks.

    Asked is csv itself: a quote in the middle of a cell is text, for example.
    """
    taken = []

    def lines() -> Iterator[str]:
        for line in chain([first], opened):
            taken.append(line)
            # A lone one ends a record here, which csv expects at the end of what it is given; a
            # cell begins behind either.
            yield line.replace(b"\r", b",").decode("utf-8", "surrogateescape")

    with suppress(csv.Error):
        next(csv.reader(lines(), strict=True), None)
    return b"".join(taken)


def _columns(file: str, opened: io.BufferedReader) -> tuple[tuple[str, ...], int]:
    """The names at the head of a CSV file, and where its records begin."""
    first = opened.readline()
    mark = codecs.BOM_UTF8 if first.startswith(codecs.BOM_UTF8) else b""
    head = _record(first.removeprefix(mark), opened)
    try:
        text = head.decode()
        columns = next(csv.reader([text], strict=True), [])
    except (UnicodeDecodeError, csv.Error) as error:
        raise BulkError(f"{file}: its first line cannot be read: {error}") from error
    if not columns:
        raise BulkError(f"{file}: has no line with the names of its columns")
    double = sorted({name for name in columns if columns.count(name) > 1})
    if double:
        raise BulkError(f"{file}: more than one column is named {', '.join(map(repr, double))}")
    return tuple(columns), len(mark + head)


def _row_groups(file: str) -> Iterator[Partition]:
    from althaia.bulk.parquet import opened_parquet

    found = opened_parquet(file)
    with found:
        names = tuple(found.schema_arrow.names)
        groups = found.num_row_groups
        for group in range(groups):
            share = os.path.getsize(file) // groups
            yield Partition(file, "parquet", group, group + 1, share, names)


def _elements(file: str, size: int) -> Iterator[Partition]:
    from althaia.bulk.readers import json_elements

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
