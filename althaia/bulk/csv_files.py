"""CSV: partitions, records, and what a cell, also of Parquet, means to the field that loads it."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from althaia.bulk.pieces import (
    NOT_UTF8,
    BulkError,
    Item,
    Partition,
    Unreadable,
    by_key,
    different,
    has_surrogates,
)

MOST_IN_CELL = 8 * 2**20
"""The most characters of a CSV cell; csv needs four bytes for each. A longer cell is reported as a
quote that is never closed."""
TOO_LONG = f"not CSV: a cell has more than {MOST_IN_CELL:,} characters; the rest is not read"

Record = tuple[int, list[str] | str]
"""The line at which a record ends, and its cells or the reason why it cannot be read."""


def csv_records(lines: Iterable[str]) -> Iterator[Record]:
    """Yield the records of CSV.

    Reading goes on with the next line, but not after a cell that is too long: the next line may
    still belong to that cell.
    """
    # The limit is one for the whole process. It is not lowered again: another thread may read.
    csv.field_size_limit(max(csv.field_size_limit(), MOST_IN_CELL))
    reader = csv.reader(lines, strict=True)
    while True:
        try:
            cells: list[str] | str = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            cells = TOO_LONG if "field limit" in str(error) else f"not CSV: {error}"
        yield reader.line_num, cells
        if cells == TOO_LONG:
            return


def csv_partitions(file: str, path: str, size: int) -> Iterator[Partition]:
    """Yield partitions of about ``size`` characters that end where a record ends; at least one.

    The csv module decides where that is, because its rules are many: a quote inside an unquoted
    cell is text, for example. Sending the text and parsing it again takes less time than sending
    the cells.

    :raises BulkError: the first line does not name columns
    """
    held: list[str] = []
    length = 0

    def lines() -> Iterator[str]:
        nonlocal length
        with open(path, encoding="utf-8-sig", errors="surrogateescape", newline="") as text:
            for line in text:
                held.append(line)
                length += len(line)
                yield line

    records = csv_records(lines())
    before, head = next(records, (0, []))
    if has_surrogates("".join(head)):
        head = NOT_UTF8
    if not head or isinstance(head, str):
        raise BulkError(f"{file}: no line with the names of its columns: {head or 'it is empty'}")
    columns = different(file, head)
    held.clear()
    first, is_empty = before + 1, True
    for end, _ in records:
        if length >= size:
            yield Partition(file, "csv", first, length, "".join(held), columns)
            held.clear()
            first, length, is_empty = end + 1, 0, False
    if held or is_empty:
        yield Partition(file, "csv", first, length, "".join(held), columns)


def csv_items(partition: Partition) -> Iterator[Item]:
    """Yield the records of a partition by the line at which they begin; an empty line is none."""
    columns, line = partition.columns, partition.first - 1
    for end, cells in csv_records(io.StringIO(partition.content, newline="")):
        number, line = line + 1, partition.first - 1 + end
        if isinstance(cells, str):
            yield number, Unreadable(cells)
        elif len(cells) == len(columns):
            broken = has_surrogates("".join(cells))
            record = Unreadable(NOT_UTF8) if broken else dict(zip(columns, cells, strict=True))
            yield number, record
        elif cells:
            yield number, Unreadable(f"{len(cells)} cells where the head has {len(columns)}")


NOTHING = {"csv": "", "parquet": None}
"""How an empty cell reads in each form whose records have all keys."""
_LEFT_OUT = object()


def cell_reader(
    by_name: Mapping[str, Any], form: str, empty: str
) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return the function that turns the cells of a record into what fields, by their keys, load.

    A list or an object in JSON becomes one, where the field loads one; in Parquet also inside lists
    and structures. In CSV alone, digits become a number, where the field is strict and refuses
    text, and an empty cell is what ``convert`` writes for None and for a missing key, too. By
    ``empty="field"`` it stays an empty text if its field accepts one. Otherwise it is None if that
    is allowed, or else left out.
    """
    from marshmallow import fields

    nothing = NOTHING[form]
    usual = {"missing": _LEFT_OUT, "null": None}.get(empty, nothing)
    instead: dict[str, Any] = {}
    holding, whole = set(), set()
    for key, field in by_name.items():
        optional = form == "csv" and (field.allow_none or not field.required)
        if optional and empty == "field" and _refuses_empty(field, key):
            instead[key] = None if field.allow_none else _LEFT_OUT
        if isinstance(field, (fields.List, fields.Tuple, fields.Mapping, fields.Nested)):
            holding.add(key)
        if form == "csv" and isinstance(field, fields.Integer) and field.strict:
            whole.add(key)

    def read(record: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, cell in record.items():
            value = instead.get(key, usual) if cell == nothing else cell
            if key in holding:
                value = _decoded(value, by_name[key], usual is _LEFT_OUT)
            elif key in whole and cell.isascii() and cell.removeprefix("-").isdecimal():
                value = _parsed(int, cell)
            if value is not _LEFT_OUT:
                found[key] = value
        return found

    return read


def _decoded(value: Any, field: Any, without_nulls: bool) -> Any:
    """Return what a field loads: JSON text decoded, nulls left out if asked, at any depth."""
    from marshmallow import fields

    if isinstance(value, str):
        holds = isinstance(field, (fields.List, fields.Tuple, fields.Mapping, fields.Nested))
        return _parsed(json.loads, value) if holds and value[:1] in ("[", "{") else value
    if isinstance(value, list) and isinstance(field, (fields.List, fields.Nested)):
        return [_decoded(each, getattr(field, "inner", field), without_nulls) for each in value]
    if isinstance(value, dict) and isinstance(field, fields.Nested):
        known = by_key(field.schema.load_fields)
        kept = {k: v for k, v in value.items() if v is not None} if without_nulls else value
        return {key: _decoded(each, known.get(key), without_nulls) for key, each in kept.items()}
    return value


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
