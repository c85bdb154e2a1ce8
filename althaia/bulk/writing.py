"""Writes the file of problems, and the target: results as pieces of a file of any form."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
import os
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from decimal import Decimal
from functools import partial
from typing import IO, Any

from althaia.bulk.csv_files import MOST_IN_CELL
from althaia.bulk.pieces import BulkError, Problem, as_json, by_key, naming

Write = Callable[[Any], None]

SCALARS = (str, int, float, Decimal, dt.date, dt.time)
"""Types whose ``str()`` is written into a CSV cell."""
SEPARATORS = {"ndjson": b"\n", "json": b",\n", "csv": b""}
"""What stands between two results."""


def compare(errors_to: str, inputs: Sequence[str], target: str | None) -> None:
    """Check that the file of errors is neither an input nor the target, before it is truncated.

    :raises BulkError: two names lead to one file
    """
    # A terminal or a pipe can be written twice.
    printed = ("/dev/stdout", "/dev/stderr") if os.path.isfile(errors_to) else ()
    for other in (*inputs, target, *printed):
        if other is not None and same(other, errors_to):
            use = "read" if other in inputs else "written"
            raise BulkError(f"{errors_to}: is also {use}, as {other}: name another file")


def same(one: str, other: str) -> bool:
    """Return whether two names lead to one file."""
    try:
        return os.path.samefile(one, other)
    except OSError:
        # One of the two files does not exist yet.
        return os.path.realpath(one) == os.path.realpath(other)


class _Output(io.FileIO):
    """A file to be written, whose errors name it.

    :param name: how it is named, which may be another path
    """

    def __init__(self, path: str, mode: str, name: str, permissions: int = 0o666) -> None:
        self._what = f"{name}: cannot be written"
        with naming(self._what):
            super().__init__(path, mode, opener=partial(os.open, mode=permissions))

    def write(self, data: Any, /) -> int:
        with naming(self._what):
            return super().write(data)

    def close(self) -> None:
        with naming(self._what):
            super().close()


@contextmanager
def appearing(file: str) -> Iterator[IO[bytes]]:
    """Open a file for writing, which gets its name only when it is complete.

    Until then, and if the work ends early, an existing file stays unchanged. If ``file`` is a link,
    its target is written. An existing file keeps its permissions.

    :raises BulkError: it cannot be written, or is something else than a file
    """
    place = os.path.realpath(file)
    with naming(f"{file}: cannot be written"):
        known = os.stat(file).st_mode if os.path.lexists(place) else None
    if known is not None and not stat.S_ISREG(known):
        raise BulkError(
            f"{file}: is no regular file, and what is written replaces a file when it is whole: "
            "name another file"
        )
    folder, name = os.path.split(place)
    # A new name ("x" fails if it exists), shortened to the longest that a file may have.
    unfinished = os.path.join(folder, f"{name[:50]}.{secrets.token_hex(4)}.part")
    # Nobody may read the unfinished file who may not read the one that it replaces.
    mode = 0o666 if known is None else stat.S_IMODE(known)
    try:
        with io.BufferedWriter(_Output(unfinished, "xb", file, mode)) as opened:
            yield opened
        with naming(f"{file}: cannot be written"):
            if known is not None:
                shutil.copymode(place, unfinished)
            os.replace(unfinished, place)
    except BaseException:
        # It is missing if a signal came before it was made.
        with suppress(OSError):
            os.unlink(unfinished)
        raise


@contextmanager
def problems_to(file: str) -> Iterator[Callable[[Problem], object]]:
    """Yield a function that writes a problem as a line of JSON to what open() accepts.

    :raises BulkError: at any time, if it cannot be written
    """
    with io.BufferedWriter(_Output(file, "wb", file)) as opened:
        yield lambda problem: opened.write(
            f"{json.dumps(problem.as_dict(), default=str)}\n".encode()
        )


def spelling(form: str, schema: Any) -> Callable[[Any], Any]:
    """Return the function that formats one result for :func:`written`: text, for Parquet a row.

    It raises TypeError or ValueError if the form cannot contain the result.
    """
    if form in ("ndjson", "json"):
        return _json
    if form == "csv":
        return partial(_row, list(by_key(schema.dump_fields)))
    from althaia.bulk.parquet import layout

    return layout(schema)[1]


def written(spelled: Sequence[Any], form: str, schema: Any) -> Any:
    """Join formatted results to a part of a file: bytes, or for Parquet a table.

    :raises Exception: for Parquet only, a value does not fit its column
    """
    if form == "parquet":
        from althaia.bulk.parquet import layout, pyarrow

        return pyarrow().Table.from_pylist(spelled, schema=layout(schema)[0])
    return SEPARATORS[form].join(spelled)


def _json(result: Any) -> bytes:
    _be_mapping(result)
    # JSON can contain a lone surrogate only as an escape, which this makes of it.
    return as_json(result).encode(errors="backslashreplace")


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


@contextmanager
def written_to(file: str, form: str, schema: Any) -> Iterator[Callable[[Any], None]]:
    """Yield a function that adds a piece to a file, which appears when it is complete.

    An empty piece leaves no trace.

    :raises BulkError: the file cannot be written, or the form has no room for the schema
    """
    with appearing(file) as opened:
        begin = _tables if form == "parquet" else _text
        with begin(opened, file, form, schema) as write:
            yield lambda piece: write(piece) if len(piece) else None


@contextmanager
def _text(opened: IO[bytes], file: str, form: str, schema: Any) -> Iterator[Write]:
    """Begin a file of text, yield the function that adds a piece to it, and end it."""
    columns = list(by_key(schema.dump_fields))
    if form == "csv" and not columns:
        raise BulkError(
            f"{type(schema).__name__} has no fields that are dumped, and CSV cannot be written "
            "without columns: convert to another form"
        )

    separator = b""

    def add(piece: bytes) -> None:
        nonlocal separator
        opened.write(separator + piece)
        separator = SEPARATORS[form]

    opened.write({"ndjson": b"", "json": b"[\n", "csv": _cells(columns)}[form])
    yield add
    opened.write({"ndjson": separator, "json": b"\n]\n", "csv": b""}[form])


@contextmanager
def _tables(opened: IO[bytes], file: str, form: str, schema: Any) -> Iterator[Write]:
    """Begin a file of Parquet, which has its columns also without rows; likewise."""
    from althaia.bulk.parquet import layout, pyarrow

    arrow = pyarrow()
    with arrow.parquet.ParquetWriter(opened, layout(schema)[0]) as writer:

        def add(table: Any) -> None:
            try:
                writer.write_table(table)
            except (ValueError, arrow.ArrowException) as error:
                raise BulkError(f"{file}: cannot be written as Parquet: {error}") from error

        yield add


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
