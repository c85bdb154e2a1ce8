"""Cells of CSV, by the csv module, with room for long ones. Imports nothing of ours."""

from __future__ import annotations

import csv
import re
import threading

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MOST_IN_CELL = 8 * 2**20
"""The most characters of a CSV cell; csv needs four bytes for each. A longer cell is reported as a
quote that is never closed."""
LINE_OF_READER = re.compile(r"^line \d+: ")
"""PyPy's prefix of a message; its line number counts from where the reader began."""
TOO_LONG = f"not CSV: a cell has more than {MOST_IN_CELL:,} characters; the rest is not read"


def csv_records(lines: Iterable[str]) -> Iterator[list[str] | str]:
    """Yield the cells of each record, or the reason why it cannot be read.

    Reading goes on with the next line, but not after a cell that is too long: the next line may
    still belong to that cell.
    """
    reader = csv.reader(lines, strict=True)
    while True:
        try:
            yield next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            if "field limit" in str(error):
                yield TOO_LONG
                return
            yield f"not CSV: {LINE_OF_READER.sub('', str(error))}"


class _LongCells:
    """A context manager in which csv accepts cells of up to MOST_IN_CELL characters.

    The limit is one for the whole process. The first user sets it. The last one restores it, unless
    the application has set another meanwhile.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._within = 0
        self._limit = 0

    def __enter__(self) -> None:
        with self._lock:
            self._within += 1
            if self._within == 1:
                self._limit = csv.field_size_limit(MOST_IN_CELL)

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._within -= 1
            if not self._within and csv.field_size_limit() == MOST_IN_CELL:
                csv.field_size_limit(self._limit)


long_cells = _LongCells()
