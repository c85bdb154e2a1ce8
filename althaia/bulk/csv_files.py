"""CSV: partitions, records, and what a cell means to the field that loads it."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from althaia.bulk.pieces import (
    NOT_UTF8,
    BulkError,
    Item,
    Partition,
    Unreadable,
    batches,
    different,
    has_surrogates,
)

MOST_IN_CELL = 8 * 2**20
"""The most characters of a CSV cell; csv needs four bytes for each. A longer cell is reported as a
quote that is never closed."""
TOO_LONG = f"not CSV: a cell has more than {MOST_IN_CELL:,} characters; the rest is not read"

Record = tuple[int, list[str] | str]
"""The line at which a record begins, and its cells or the reason why it cannot be read."""


def csv_records(lines: Iterable[str]) -> Iterator[Record]:
    """Yield the records of CSV.

    Reading goes on with the next line, but not after a cell that is too long: the next line may
    still belong to that cell.
    """
    # The limit is one for the whole process. It is not lowered again: another thread may read.
    csv.field_size_limit(max(csv.field_size_limit(), MOST_IN_CELL))
    reader = csv.reader(lines, strict=True)
    while True:
        number = reader.line_num + 1
        try:
            yield number, next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            if "field limit" in str(error):
                yield number, TOO_LONG
                return
            yield number, f"not CSV: {error}"


def csv_partitions(file: str, path: str, size: int) -> Iterator[Partition]:
    """Yield partitions, which contain their records; at least one, which names the columns.

    One process reads all of them: where a record ends depends on all quotes before.
    """
    # surrogateescape: an invalid byte becomes a lone surrogate, which UTF-8 never contains.
    with open(path, encoding="utf-8-sig", errors="surrogateescape", newline="") as text:
        read = 0

        def lines() -> Iterator[str]:
            nonlocal read
            for line in text:
                read += len(line)
                yield line

        records = csv_records(lines())
        columns = _columns(file, next(records, (1, []))[1])
        found = ((item, read) for item in _items(records, columns))
        yield from batches(file, path, "csv", found, size, columns)


def _columns(file: str, head: list[str] | str) -> tuple[str, ...]:
    """Return the names in the head of a file; BulkError if there are none."""
    if has_surrogates("".join(head)):
        head = NOT_UTF8
    if isinstance(head, str):
        raise BulkError(f"{file}: its first line cannot be read: {head}")
    if not head:
        raise BulkError(f"{file}: has no line with the names of its columns")
    return different(file, head)


def _items(
    records: Iterator[tuple[int, list[str] | str]], columns: Sequence[str]
) -> Iterator[Item]:
    """Yield the records as dictionaries; an empty line is none."""
    for number, cells in records:
        if isinstance(cells, str):
            yield number, Unreadable(cells)
        elif len(cells) == len(columns):
            broken = has_surrogates("".join(cells))
            record = Unreadable(NOT_UTF8) if broken else dict(zip(columns, cells, strict=True))
            yield number, record
        elif cells:
            yield number, Unreadable(f"{len(cells)} cells where the head has {len(columns)}")


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
