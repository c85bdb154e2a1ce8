"""Inputs that are no files to read from more than one place: standard input, and ``.gz``.

They are copied to a temporary file first, so that memory does not grow with them either and worker
processes can read their parts.
"""

from __future__ import annotations

import gzip
import os
import shutil
import sys
import tempfile
import zlib
from contextlib import contextmanager

from althaia.bulk.pieces import BLOCK, BulkError, naming

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import IO

STANDARD_INPUT = "-"
PACKED = ".gz"
UNPACKED_TIMES, UNPACKED_AT_LEAST = 200, 64 * 2**20
"""How large a packed file may become, as a multiple of its size and in bytes. Records become 5 to
50 times as large; a file that is made to fill the disk, 1,000 times."""


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
            try:
                _copy(file, copy, most)
            except (EOFError, zlib.error) as error:
                raise BulkError(f"{file}: is no whole gzip file: {error}") from error
            copy.flush()
        yield copy.name


def _copy(file: str, copy: IO[bytes], most: int | None) -> None:
    if file == STANDARD_INPUT:
        shutil.copyfileobj(sys.stdin.buffer, copy)
        return
    if most is None:
        most = max(UNPACKED_TIMES * os.path.getsize(file), UNPACKED_AT_LEAST)
    with gzip.open(file, "rb") as opened:
        while block := opened.read(BLOCK):
            if copy.tell() + len(block) > most:
                raise BulkError(
                    f"{file}: becomes larger than {most:,} bytes when it is unpacked: "
                    "--most-unpacked allows more"
                )
            copy.write(block)
