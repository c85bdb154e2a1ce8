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
"""Bytes that are read at a time."""


class BulkError(Exception):
    """A file or an option that nothing can be done with; the text says which, and why."""


@dataclass(frozen=True, slots=True)
class Partition:
    """A piece of a file: bytes ``start`` to ``end``; in Parquet the groups of rows between these
    numbers, one or none; of a JSON array the elements from ``start`` to ``end``, which it brings
    along as ``items``.

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


@contextmanager
def naming(what: str) -> Iterator[None]:
    """Give what the system says inside as a BulkError that begins with ``what``: a file."""
    try:
        yield
    except OSError as error:
        raise BulkError(f"{what}: {error.strerror or error}") from error
