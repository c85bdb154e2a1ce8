"""A piece of a file that is read by itself, and the error about a file. Imports nothing of ours."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Item = tuple[int, Any]
    """A number from 1, of the line or of the record, and a record or an Unreadable."""

BLOCK = 2**20
"""The number of bytes read at a time."""


class BulkError(Exception):
    """A file or an option cannot be used; the text says which, and why."""


@dataclass(frozen=True, slots=True)
class Partition:
    """A part of a file from ``start`` to ``end``: in bytes; for Parquet in row groups, at most one;
    for a JSON array in elements, which ``items`` contains.

    ``columns`` are the names of the columns, for CSV and Parquet. ``share`` is the approximate
    number of bytes of the file that it covers. ``place`` is the index of the file among those that
    are read, because one file may be named twice. ``copy`` is the path to read, if the
    file itself is not read.
    """

    file: str
    form: str
    start: int
    end: int
    share: int
    columns: tuple[str, ...] = ()
    items: tuple[Item, ...] = ()
    place: int = 0
    copy: str = ""

    @property
    def path(self) -> str:
        """Where it is read."""
        return self.copy or self.file

    def __str__(self) -> str:
        if self.form == "parquet":
            return f"{self.file}, row group {self.start + 1}"
        if self.form == "json":
            return f"{self.file}, elements {self.start:,} to {self.end:,}"
        return f"{self.file}, bytes {self.start:,} to {self.end:,}"


@contextmanager
def naming(what: str) -> Iterator[None]:
    """Convert an OSError inside to a BulkError that begins with ``what``, the name of a file."""
    try:
        yield
    except OSError as error:
        raise BulkError(f"{what}: {error.strerror or error}") from error
