"""CSV: partitions, records, and what a cell means to the field that loads it."""

from __future__ import annotations

import codecs
import csv
import io
import json
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from althaia.bulk.pieces import (
    NOT_UTF8,
    BulkError,
    Item,
    Partition,
    Unreadable,
    different,
    has_surrogates,
)

MOST_IN_CELL = 8 * 2**20
"""The most characters of a CSV cell; csv needs four bytes for each. A longer cell is reported as a
quote that is never closed."""
TOO_LONG = f"not CSV: a cell has more than {MOST_IN_CELL:,} characters; the rest is not read"


def csv_records(lines: Iterable[str]) -> Iterator[list[str] | str]:
    """Yield the cells of each record, or the reason why it cannot be read.

    Reading goes on with the next line, but not after a cell that is too long: the next line may
    still belong to that cell.
    """
    # The limit is one for the whole process. It is not lowered again: another thread may read.
    csv.field_size_limit(max(csv.field_size_limit(), MOST_IN_CELL))
    reader = csv.reader(lines, strict=True)
    while True:
        try:
            yield next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            if "field limit" in str(error):
                yield TOO_LONG
                return
            yield f"not CSV: {error}"


class _Records:
    """Finds which lines of a file make one record: a quoted cell may contain line breaks.

    The csv module decides, because its rules are many: a quote inside an unquoted cell is text, for
    example. ``at`` is the position behind the last record in bytes, ``lines`` that in lines.
    """

    def __init__(self, opened: io.BufferedReader) -> None:
        self.at = opened.tell()
        self.lines = 0
        self._opened = opened
        self._left: deque[str] = deque()
        self._found = csv_records(self._asked())

    def take(self, line: bytes) -> list[str] | str:
        """Read from ``line`` to where a line and a record end; return the last record."""
        self._add(line)
        found: list[str] | str = []
        for found in self._found:
            if not self._left or found == TOO_LONG:
                break
        return found

    def _add(self, line: bytes) -> None:
        self.at += len(line)
        self.lines += 1
        # For the csv module a lone carriage return ends a line, too.
        self._left.extend(io.StringIO(line.decode("utf-8", "surrogateescape"), newline=""))

    def _asked(self) -> Iterator[str]:
        while self._left or (line := self._opened.readline()):
            if not self._left:
                self._add(line)
            yield self._left.popleft()


def csv_partitions(file: str, path: str, size: int) -> Iterator[Partition]:
    """Yield partitions of about ``size`` bytes that end where a record ends; at least one."""
    with open(path, "rb") as opened:
        whole = os.fstat(opened.fileno()).st_size
        if opened.read(len(codecs.BOM_UTF8)) != codecs.BOM_UTF8:
            opened.seek(0)
        records = _Records(opened)
        columns = _columns(file, records.take(opened.readline()))
        head = start = records.at
        before = records.lines

        def partition() -> Partition:
            share = records.at - start
            return Partition(file, path, "csv", start, records.at, share, columns, before)

        for line in opened:
            # Only a line with a quote can end inside a record, or be the last that can be read.
            if b'"' in line or len(line) > MOST_IN_CELL:
                if records.take(line) == TOO_LONG:
                    break
            else:
                records.at += len(line)
                records.lines += 1
            if records.at >= start + size:
                yield partition()
                start, before = records.at, records.lines
        else:
            # The file became shorter meanwhile: reading the partition reports the missing part.
            records.at = max(records.at, whole)
        if records.at > start or start == head:
            yield partition()


def _columns(file: str, head: list[str] | str) -> tuple[str, ...]:
    """Return the names in the head of a file; BulkError if there are none."""
    if not isinstance(head, str) and any(map(has_surrogates, head)):
        head = NOT_UTF8
    if isinstance(head, str):
        raise BulkError(f"{file}: its first line cannot be read: {head}")
    if not head:
        raise BulkError(f"{file}: has no line with the names of its columns")
    return different(file, head)


def csv_items(partition: Partition, content: bytes) -> Iterator[Item]:
    """Yield the records of a partition by the line at which they begin."""
    text = content.decode("utf-8", "surrogateescape")
    columns = partition.columns
    lines = io.StringIO(text, newline="")
    number, at = partition.before + 1, 0
    for cells in csv_records(lines):
        # The csv module counts a lone "\r" as the end of a line.
        before, at = at, lines.tell()
        if isinstance(cells, str):
            yield number, Unreadable(cells)
        elif len(cells) == len(columns):
            record: Any = dict(zip(columns, cells, strict=True))
            if not text.isascii() and any(map(has_surrogates, cells)):
                record = Unreadable(NOT_UTF8)
            yield number, record
        elif cells:
            yield number, Unreadable(f"{len(cells)} cells where the head has {len(columns)}")
        number += text.count("\n", before, at)


_LEFT_OUT = object()


def cell_reader(schema: Any) -> Callable[[dict[str, str]], dict[str, Any]]:
    """Return the function that turns the cells of a record into what the schema loads.

    An empty cell is what ``convert`` writes for None and for a missing key, too. It stays an empty
    text if its field accepts one. Otherwise it is None if that is allowed, or else left out. A list
    or an object in JSON becomes one, where the field loads one, and digits become a number, where
    the field is strict and refuses text.
    """
    from marshmallow import fields

    empty: dict[str, Any] = {}
    holding, whole = set(), set()
    for name, field in schema.load_fields.items():
        key = name if field.data_key is None else field.data_key
        if (field.allow_none or not field.required) and _refuses_empty(field, key):
            empty[key] = None if field.allow_none else _LEFT_OUT
        if isinstance(field, (fields.List, fields.Tuple, fields.Mapping, fields.Nested)):
            holding.add(key)
        if isinstance(field, fields.Integer) and field.strict:
            whole.add(key)

    def read(record: dict[str, str]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, cell in record.items():
            value = empty.get(key, cell) if cell == "" else cell
            if key in holding and cell[:1] in ("[", "{"):
                value = _parsed(json.loads, cell)
            elif key in whole and cell.isascii() and cell.removeprefix("-").isdecimal():
                value = _parsed(int, cell)
            if value is not _LEFT_OUT:
                found[key] = value
        return found

    return read


def _refuses_empty(field: Any, key: str) -> bool:
    """Return whether an empty text is not valid for a field."""
    from marshmallow import ValidationError

    try:
        field.deserialize("", key, {key: ""})
    except ValidationError:
        return True
    except Exception:  # The field's own code failed: it is given each cell as it is.
        return False
    return False


def _parsed(parse: Callable[[str], Any], cell: str) -> Any:
    """Return what is in a cell, or the cell itself for the field to refuse."""
    try:
        return parse(cell)
    except (ValueError, RecursionError):
        return cell
