"""JSON arrays: elements are decoded while the array is read, because only that finds where they
are."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from typing import Any

from althaia.bulk.pieces import BLOCK, NOT_UTF8, Item, Partition, Unreadable, has_surrogates

MOST_CHARACTERS = 64 * 2**20
"""The most characters of an element; a longer one is treated as unterminated."""
ELEMENTS = 10_000
"""The most elements of an array in one partition."""
_spaces = re.compile(r"[ \t\r\n]*").match


def json_partitions(file: str, path: str, size: int) -> Iterator[Partition]:
    """Yield partitions of about ``size`` bytes of text."""
    batch: list[Item] = []
    start = end = 0
    for item, end in _elements(path):
        batch.append(item)
        if end - start >= size or len(batch) == ELEMENTS:
            yield Partition(file, "json", batch[0][0], end - start, batch)
            batch, start = [], end
    if batch:
        yield Partition(file, "json", batch[0][0], end - start, batch)


def _elements(path: str) -> Iterator[tuple[Item, int]]:
    """Yield each element of an array, and about where it ends."""
    # surrogateescape: an invalid byte becomes a lone surrogate, which UTF-8 never contains.
    with open(path, encoding="utf-8-sig", errors="surrogateescape", newline="") as opened:
        text = _Text(opened)
        number = 1
        try:
            text.expect("[")
            separator = text.expect("]") if text.character() == "]" else ","
            while separator == ",":
                yield (number, text.element()), text.place()
                # An error from here on does not belong to this element.
                number += 1
                separator = text.expect(",", "]")
            if text.character():
                raise ValueError("there is more behind the array")
        except (ValueError, RecursionError) as error:
            yield (number, Unreadable(f"not JSON: {error}; the rest is not read")), text.place()


class _Text:
    """JSON text, read in blocks and discarded once it is decoded."""

    def __init__(self, file: io.TextIOWrapper) -> None:
        self._file = file
        self._decode = json.JSONDecoder().raw_decode
        self._text = ""
        self._at = self._read = 0

    def place(self) -> int:
        """The characters consumed, about as many as bytes."""
        return self._read - (len(self._text) - self._at)

    def character(self) -> str:
        """Return the next character that is not white space, "" at the end."""
        while True:
            self._at = _spaces(self._text, self._at).end()  # type: ignore[union-attr]
            if self._at < len(self._text) or not self._more(BLOCK):
                return self._text[self._at : self._at + 1]

    def expect(self, *characters: str) -> str:
        """Consume the next character; ValueError if it is none of these."""
        found = self.character()
        if found not in characters or not found:
            wanted = " or ".join(map(repr, characters))
            raise ValueError(f"expected {wanted}, found {repr(found) if found else 'the end'}")
        self._at += 1
        return found

    def element(self) -> Any:
        """Consume the next value; Unreadable if it is not UTF-8, ValueError if there is none."""
        self.character()
        size = BLOCK
        while True:
            try:
                value, end = self._decode(self._text, self._at)
                # The block may end in the middle of a number: in "1.", "1e" or "1e+".
                if end < len(self._text) - len("e+") or not self._more(size):
                    break
            except json.JSONDecodeError as error:
                if len(self._text) - self._at >= MOST_CHARACTERS or not self._more(size):
                    # Report the position in the element: that in the buffer means nothing.
                    text = self._text[self._at :]
                    raise json.JSONDecodeError(error.msg, text, error.pos - self._at) from error
            # Read twice as much each time, so that a long element is decoded few times.
            size *= 2
        broken = has_surrogates(self._text[self._at : end])
        self._at = end
        return Unreadable(NOT_UTF8) if broken else value

    def _more(self, size: int) -> bool:
        """Read on and discard what is consumed; False, with nothing changed, at the end."""
        if more := self._file.read(size):
            self._read += len(more)
            self._text = self._text[self._at :] + more
            self._at = 0
        return bool(more)
