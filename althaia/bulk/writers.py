"""Results of partitions as pieces of a file, and the file that is made of them."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Mapping
from functools import partial

from althaia.bulk.partitions import BulkError

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Self


def spelling(form: str, schema: Any) -> Callable[[Any], Any]:
    """What makes of a result what :func:`written` puts together: its text, for Parquet
    itself.

    It raises TypeError or ValueError where the form has no room for the result.
    """
    if form in ("ndjson", "json"):
        return _json
    if form == "csv":
        return partial(_row, _columns(schema))
    return _itself


def written(spelled: Sequence[Any], form: str, schema: Any) -> Any:
    """Spelled results as a piece of a file: bytes, or for Parquet a table.

    :raises BulkError: the results do not fit into one table
    """
    if form == "parquet":
        from althaia.bulk.parquet import table

        return table(spelled, schema)
    return {"ndjson": b"\n", "json": b",\n", "csv": b""}[form].join(spelled)


def _json(result: Any) -> bytes:
    try:
        return json.dumps(result, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        # Half of a pair of surrogates, which only an escape can say.
        return json.dumps(result).encode()


def _row(columns: Sequence[str], result: Any) -> bytes:
    if not isinstance(result, Mapping):
        raise TypeError(f"a line of CSV is made of a mapping, not of {type(result).__name__}")
    return _cells([_cell(result.get(name)) for name in columns])


def _itself(result: Any) -> Any:
    return result


class Target:
    """The file that pieces are written to, one after the other.

    It has its name only when it is whole: until then, and for good where the work ends
    early, nothing stands in its place but what stood there before.
    """

    def __init__(self, file: str, form: str, schema: Any) -> None:
        self.file, self.form = file, form
        self._unfinished = f"{file}.part"
        self._schema = schema
        self._writer: Any = None
        self._pieces = 0
        try:
            self._opened = open(self._unfinished, "wb")  # noqa: SIM115
        except OSError as error:
            raise BulkError(f"{file}: cannot be written: {error.strerror}") from error

    def __enter__(self) -> Self:
        if self.form == "json":
            self._opened.write(b"[\n")
        elif self.form == "csv":
            self._opened.write(_cells(_columns(self._schema)))
        return self

    def add(self, piece: Any) -> None:
        """Write a piece; an empty one leaves no trace."""
        if self.form == "parquet":
            self._add_table(piece)
            return
        if not piece:
            return
        if self.form == "json" and self._pieces:
            self._opened.write(b",\n")
        self._opened.write(piece)
        if self.form == "ndjson":
            self._opened.write(b"\n")
        self._pieces += 1

    def _add_table(self, table: Any) -> None:
        from althaia.bulk.parquet import pyarrow

        arrow = pyarrow()
        if self._writer is None:
            self._writer = arrow.parquet.ParquetWriter(self._opened, table.schema)
        try:
            self._writer.write_table(table.cast(self._writer.schema))
        except (arrow.ArrowInvalid, ValueError) as error:
            raise BulkError(f"{self.file}: values of another type than before: {error}") from error

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if self._writer is not None:
                self._writer.close()
            elif self.form == "json":
                self._opened.write(b"\n]\n" if self._pieces else b"]\n")
        finally:
            self._opened.close()
            if kind is None:
                os.replace(self._unfinished, self.file)
            else:
                os.unlink(self._unfinished)


def _columns(schema: Any) -> list[str]:
    return [
        name if field.data_key is None else field.data_key
        for name, field in schema.dump_fields.items()
    ]


def _cell(value: Any) -> Any:
    if isinstance(value, (dict, list)):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else value


def _cells(cells: Sequence[Any]) -> bytes:
    """A line of CSV."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue().encode()
