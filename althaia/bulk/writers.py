"""Converts the results of partitions to pieces of a file, and writes the file from them."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
from collections.abc import Mapping
from contextlib import suppress
from decimal import Decimal
from functools import partial

from althaia.bulk.cells import MOST_IN_CELL
from althaia.bulk.outputs import as_json, writing
from althaia.bulk.pieces import BulkError

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import IO, Any, Self

SCALARS = (str, int, float, Decimal, dt.date, dt.time)
"""Types whose ``str()`` is written into a CSV cell."""


def spelling(form: str, schema: Any) -> Callable[[Any], Any]:
    """Return the function that formats one result for :func:`written`: text, for Parquet a row.

    It raises TypeError or ValueError if the form cannot contain the result.
    """
    if form in ("ndjson", "json"):
        return _json
    if form == "csv":
        return partial(_row, _columns(schema))
    from althaia.bulk.parquet import row_of

    return row_of(schema)


def written(spelled: Sequence[Any], form: str, schema: Any) -> Any:
    """Join formatted results to a part of a file: bytes, or for Parquet a table.

    :raises Exception: for Parquet only, a value does not fit its column
    """
    if form == "parquet":
        from althaia.bulk.parquet import table

        return table(spelled, schema)
    return {"ndjson": b"\n", "json": b",\n", "csv": b""}[form].join(spelled)


def _json(result: Any) -> bytes:
    _be_mapping(result)
    try:
        return as_json(result).encode()
    except UnicodeEncodeError:
        # JSON can contain a lone surrogate only as an escape.
        return json.dumps(result).encode()


def _row(columns: Sequence[str], result: Any) -> bytes:
    _be_mapping(result)
    if strange := set(result).difference(columns):
        # A hook may add keys, but the header was written before the first result.
        raise TypeError(f"CSV has no column for {', '.join(sorted(map(str, strange)))}")
    return _cells([_cell(result.get(name)) for name in columns])


def _be_mapping(result: Any) -> None:
    """Raise TypeError if a hook has returned something else than a mapping."""
    if not isinstance(result, Mapping):
        raise TypeError(f"a record is made of a mapping, not of {type(result).__name__}")


def misfits(spelled: Sequence[Any], form: str, schema: Any) -> Iterator[tuple[int, Exception]]:
    """Yield the index of each formatted result that :func:`written` refuses, and the error.

    Bisection: both halves are tried, then the halves of one that fails, so that few misfits cost
    few tries.
    """
    waiting = [(0, len(spelled))]
    while waiting:
        start, end = waiting.pop()
        try:
            written(spelled[start:end], form, schema)
        except Exception as error:
            if end - start == 1:
                yield start, error
                continue
            middle = (start + end) // 2
            waiting += [(middle, end), (start, middle)]


class Target:
    """Pieces, one after the other, as the content of an open file.

    :param file: its name, for messages
    :raises BulkError: when something is written, that fails
    """

    def __init__(self, opened: IO[bytes], file: str, form: str, schema: Any) -> None:
        self.file, self.form = file, form
        self._opened = opened
        self._schema = schema
        self._writer: Any = None
        self._pieces = 0

    def __enter__(self) -> Self:
        with writing(self.file):
            if self.form == "json":
                self._opened.write(b"[\n")
            elif self.form == "csv":
                columns = _columns(self._schema)
                if not columns:
                    raise BulkError(
                        f"{type(self._schema).__name__} has no fields that are dumped, and CSV "
                        "cannot be written without columns: convert to another form"
                    )
                self._opened.write(_cells(columns))
            elif self.form == "parquet":
                from althaia.bulk.parquet import writer

                # Opened now: a file without rows has its columns, too.
                self._writer = writer(self._opened, self._schema)
        return self

    def add(self, piece: Any) -> None:
        """Write a piece; an empty one leaves no trace."""
        if not len(piece):
            return
        with writing(self.file):
            if self._writer is not None:
                self._add_table(piece)
                return
            if self.form == "json" and self._pieces:
                self._opened.write(b",\n")
            self._opened.write(piece)
            if self.form == "ndjson":
                self._opened.write(b"\n")
        self._pieces += 1

    def _add_table(self, table: Any) -> None:
        from althaia.bulk.parquet import pyarrow

        try:
            self._writer.write_table(table)
        except (ValueError, pyarrow().ArrowException) as error:
            raise BulkError(f"{self.file}: cannot be written as Parquet: {error}") from error

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            # The file is discarded: raise the error that ended the work, not one of closing it.
            with suppress(Exception):
                self._close()
            return
        with writing(self.file):
            self._close()

    def _close(self) -> None:
        if self._writer is not None:
            self._writer.close()
        elif self.form == "json":
            self._opened.write(b"\n]\n" if self._pieces else b"]\n")


def _columns(schema: Any) -> list[str]:
    return [
        name if field.data_key is None else field.data_key
        for name, field in schema.dump_fields.items()
    ]


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, SCALARS):
        return value
    if isinstance(value, (list, tuple)):
        return as_json(value)
    if isinstance(value, Mapping):
        return as_json(dict(value))
    raise TypeError(f"a cell of CSV has no form for {type(value).__name__}")


def _cells(cells: Sequence[Any]) -> bytes:
    """Return a line of CSV; ValueError if a cell is longer than can be read again."""
    if any(isinstance(cell, str) and len(cell) > MOST_IN_CELL for cell in cells):
        raise ValueError(f"a cell of CSV has no room for more than {MOST_IN_CELL:,} characters")
    text = io.StringIO(newline="")
    # Before CPython 3.13 csv quotes only the characters of its own line end; a lone CR or LF in a
    # cell would end the record.
    csv.writer(text, lineterminator="\r\n").writerow(cells)
    return (text.getvalue().removesuffix("\r\n") + "\n").encode()
