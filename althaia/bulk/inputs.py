"""Inputs that are no files to read from more than one place: standard input, and ``.gz``.

They are copied to a temporary file first, so that memory does not grow with them either and worker
processes can read their parts.
"""

from __future__ import annotations

import gzip
import shutil
import sys
import tempfile
import zlib
from contextlib import contextmanager

from althaia.bulk.pieces import BulkError, naming

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import IO

STANDARD_INPUT = "-"
PACKED = ".gz"


def is_copied(file: str) -> bool:
    """Return whether a file is read by way of a temporary copy."""
    return file == STANDARD_INPUT or file.lower().endswith(PACKED)


@contextmanager
def readable(file: str) -> Iterator[str]:
    """Yield the path by which the content of ``file`` can be read: that of a copy if need be.

    :raises BulkError: it cannot be read, or is not packed by gzip
    """
    if not is_copied(file):
        yield file
        return
    with tempfile.NamedTemporaryFile(prefix="althaia-") as copy:
        with naming(file):
            try:
                _copy(file, copy)
            except (EOFError, zlib.error) as error:
                raise BulkError(f"{file}: is no whole gzip file: {error}") from error
            copy.flush()
        yield copy.name


def _copy(file: str, copy: IO[bytes]) -> None:
    if file == STANDARD_INPUT:
        shutil.copyfileobj(sys.stdin.buffer, copy)
        return
    with gzip.open(file, "rb") as opened:
        shutil.copyfileobj(opened, copy)
