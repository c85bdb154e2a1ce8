"""Cells of CSV, by the csv module, with room for long ones. Imports nothing of ours."""

from __future__ import annotations

import csv
import re
import threading

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MOST_IN_CELL = 8 * 2**20
"""Characters of a cell of CSV, which takes four bytes for each; what seems longer is taken for a
quote that never ends."""
LINE_OF_READER = re.compile(r"^line \d+: ")
"""What PyPy puts before a message, counted from where the reader began."""
TOO_LONG = f"not CSV: a cell has more than {MOST_IN_CELL:,} characters; the rest is not read"


def csv_records(lines: Iterable[str]) -> Iterator[list[str] | str]:
    """The cells of each record; where it is none, why, and reading goes on with the next line.

    Behind a cell that is too long it does not: what follows may still be of that cell.
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
    """While somebody is within, csv takes cells of up to MOST_IN_CELL.

    Its limit is the whole process's, so that the first one in sets it and the last one out puts it
    back, unless the application has set another in the meantime.
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
