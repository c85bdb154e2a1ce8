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
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from decimal import Decimal
from functools import partial
from typing import IO, Any

from althaia.bulk.csv_files import MOST_IN_CELL
from althaia.bulk.pieces import BulkError, Problem, as_json, be_mapping, by_key, naming

SCALARS = (str, int, float, Decimal, dt.date, dt.time)
"""Types whose ``str()`` is written into a CSV cell."""
SEPARATORS = {"ndjson": b"\n", "json": b",\n", "csv": b""}
"""What stands between two results."""


def compare(file: str, inputs: Sequence[str], written: Sequence[str] = ()) -> None:
    """Check that a file, before it is written, is no input, and not written otherwise.

    :raises BulkError: two names lead to one file
    """
    # A terminal or a pipe can be written twice.
    printed = ("/dev/stdout", "/dev/stderr") if os.path.isfile(file) else ()
    for other in (*inputs, *written, *printed):
        if _same(other, file):
            use = "read" if other in inputs else "written"
            raise BulkError(f"{file}: is also {use}, as {other}: name another file")


def _same(one: str, other: str) -> bool:
    """Return whether two names lead to one file; ``-`` is standard input."""
    try:
        return os.path.samefile("/dev/stdin" if one == "-" else one, other)
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
        known = os.stat(file).st_mode if os.path.exists(file) else None
    if known is not None and not stat.S_ISREG(known):
        raise BulkError(f"{file}: is no regular file, which could be replaced: name another file")
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
        yield lambda problem: opened.write(f"{json.dumps(asdict(problem), default=str)}\n".encode())


def spelling(form: str, schema: Any) -> tuple[Callable[[Any], Any], Callable[[list[Any]], Any]]:
    """Return two functions: one formats a result, and one joins such to a part of a file.

    A result is formatted as text, and joined to bytes; for Parquet it is a row, and they are a
    table. The first function raises TypeError or ValueError if the form cannot contain the result.
    """
    if form == "parquet":
        from althaia.bulk.parquet import layout, pyarrow

        columns, row = layout(schema)
        return row, partial(pyarrow().Table.from_pylist, schema=columns)
    one = partial(_row, list(by_key(schema.dump_fields))) if form == "csv" else _json
    return one, SEPARATORS[form].join


def _json(result: Any) -> bytes:
    be_mapping(result)
    # JSON can contain a lone surrogate only as an escape, which this makes of it.
    return as_json(result).encode(errors="backslashreplace")


def _row(columns: Sequence[str], result: Any) -> bytes:
    be_mapping(result)
    if strange := set(result).difference(columns):
        # A hook may add keys, but the header was written before the first result.
        raise TypeError(f"CSV has no column for {', '.join(sorted(map(str, strange)))}")
    return _cells([_cell(result.get(name)) for name in columns])


@contextmanager
def written_to(file: str, form: str, schema: Any) -> Iterator[Callable[[Any], None]]:
    """Yield a function that adds a piece to a file, which appears when it is complete.

    An empty piece leaves no trace.

    :raises BulkError: the file cannot be written, or the form has no room for the schema
    """
    with appearing(file) as opened:
        if form == "parquet":
            from althaia.bulk.parquet import layout, pyarrow

            # Nothing that Arrow refuses comes here: each value was compared with its column.
            with pyarrow().parquet.ParquetWriter(opened, layout(schema)[0]) as writer:
                yield lambda table: writer.write_table(table) if len(table) else None
        else:
            with _text(opened, form, schema) as write:
                yield lambda piece: write(piece) if piece else None


@contextmanager
def _text(opened: IO[bytes], form: str, schema: Any) -> Iterator[Callable[[bytes], None]]:
    """Begin a file of text, yield the function that adds a piece to it, and end it."""
    columns = list(by_key(schema.dump_fields))
    if form == "csv" and not columns:
        name = type(schema).__name__
        raise BulkError(f"{name} has no fields that are dumped, and CSV needs columns")
    separator = b""

    def add(piece: bytes) -> None:
        nonlocal separator
        opened.write(separator + piece)
        separator = SEPARATORS[form]

    opened.write({"ndjson": b"", "json": b"[\n", "csv": _cells(columns)}[form])
    yield add
    opened.write({"ndjson": separator, "json": b"\n]\n", "csv": b""}[form])


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, SCALARS):
        return value
    if isinstance(value, (list, tuple, dict)):
        return as_json(value)
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
