"""Reads files: of which form a file is, its partitions, and the records of a partition.

This process reads; workers are sent the content of partitions. Standard input and ``.gz`` are
copied to a temporary file first, because Parquet is read from more than one place.
"""

from __future__ import annotations

import codecs
import gzip
import io
import json
import os
import shutil
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from althaia.bulk.csv_files import csv_items, csv_partitions
from althaia.bulk.json_files import json_partitions
from althaia.bulk.pieces import BLOCK, BulkError, Item, Partition, Unreadable, naming

FORMS = ("ndjson", "json", "csv", "parquet")
_SUFFIXES = {
    ".ndjson": "ndjson",
    ".jsonl": "ndjson",
    ".json": "json",
    ".csv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
}
STANDARD_INPUT = "-"
PACKED = ".gz"
UNPACKED_TIMES, UNPACKED_AT_LEAST = 200, 64 * 2**20
"""How large a packed file may become, as a multiple of its size and in bytes. Records become 5 to
50 times as large; a file that is made to fill the disk, 1,000 times."""
PARTITION_BYTES = 8 * 2**20
"""The approximate size of a partition; its records take several times as much memory."""


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


def is_copied(file: str) -> bool:
    """Return whether a file is read by way of a temporary copy."""
    return file == STANDARD_INPUT or file.lower().endswith(PACKED)


@contextmanager
def readable(file: str, most: int | None = None) -> Iterator[str]:
    """Yield the path by which the content of ``file`` can be read: that of a copy if need be.

    :param most: the bytes that a packed file may become; by default 200 times its size
    :raises BulkError: it cannot be read, is not packed by gzip, or becomes larger
    """
    if not is_copied(file):
        yield file
        return
    with tempfile.NamedTemporaryFile(prefix="althaia-") as copy:
        with naming(file):
            if file == STANDARD_INPUT:
                shutil.copyfileobj(sys.stdin.buffer, copy)
            else:
                _unpack(file, copy, most)
            copy.flush()
        yield copy.name


def _unpack(file: str, copy: IO[bytes], most: int | None) -> None:
    """Copy the content of a packed file, of at most so many bytes."""
    most = most or max(UNPACKED_TIMES * os.path.getsize(file), UNPACKED_AT_LEAST)
    try:
        with gzip.open(file, "rb") as opened:
            while block := opened.read(BLOCK):
                if copy.tell() + len(block) > most:
                    raise BulkError(
                        f"{file}: becomes larger than {most:,} bytes when it is unpacked: "
                        "--most-unpacked allows more"
                    )
                copy.write(block)
    except (EOFError, zlib.error) as error:
        raise BulkError(f"{file}: is no whole gzip file: {error}") from error


def partitions(
    file: str, form: str, size: int = PARTITION_BYTES, path: str | None = None
) -> Iterator[Partition]:
    """Yield the partitions of ``file`` in order, read from ``path`` if its content is there.

    A file with columns has at least one partition, which names them, even without records.

    :raises BulkError: the file cannot be read, or is not of that form
    """
    path = path or file
    with naming(file):
        if form == "parquet":
            from althaia.bulk.parquet import parquet_partitions

            yield from parquet_partitions(file, path)
        else:
            yield from _PARTITIONS[form](file, path, size)


def _ndjson_partitions(file: str, path: str, size: int) -> Iterator[Partition]:
    first = 1
    # Not by the file's size, which is 0 below /proc.
    with open(path, "rb") as opened:
        while content := opened.read(size - 1) + opened.readline():
            yield Partition(file, "ndjson", first, len(content), content)
            first += content.count(b"\n")


_PARTITIONS = {"ndjson": _ndjson_partitions, "json": json_partitions, "csv": csv_partitions}


def items(partition: Partition) -> Iterator[Item]:
    """Yield the records of ``partition`` with their numbers: of lines, rows or elements.

    They count from 1 where the file begins.
    """
    if partition.form == "ndjson":
        return _ndjson_items(partition)
    if partition.form == "csv":
        return csv_items(partition)
    if partition.form == "parquet":
        from althaia.bulk.parquet import rows_of

        return enumerate(rows_of(partition.content), partition.first)
    return iter(partition.content)


def _ndjson_items(partition: Partition) -> Iterator[Item]:
    decode = json.JSONDecoder().decode
    for number, line in enumerate(io.BytesIO(partition.content), partition.first):
        text = line.removesuffix(b"\n")
        if number == 1:
            text = text.removeprefix(codecs.BOM_UTF8)
        if not text or text.isspace():
            continue
        try:
            yield number, decode(text.decode())
        except (ValueError, RecursionError) as error:
            # Only the last line of a file may lack its line break.
            ending = "" if line.endswith(b"\n") else "; the file ends within this line"
            yield number, Unreadable(f"not JSON: {error}{ending}")
