"""The data of a job: partitions, their outcomes, problems, the summary, and the error about a file.

Imports nothing of ours.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

Item = tuple[int, Any]
"""A number from 1, of the line or of the record, and a record or an Unreadable."""

BLOCK = 2**20
"""The number of bytes read at a time."""
NOT_UTF8 = "not UTF-8"
MOST_KINDS = 1_000
"""The most different messages that are counted separately; the others share one counter."""
REST = "other errors"


class BulkError(Exception):
    """A file or an option cannot be used; the text says which, and why."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A record that is not valid in its form; ``text`` is the reason."""

    text: str


@dataclass(frozen=True, slots=True)
class Partition:
    """A part of a file, with its content: lines of NDJSON, rows of Arrow, or items.

    ``first`` is the number of its first line, row or element. ``share`` is the approximate number
    of bytes of the file that it covers. ``columns`` are the names of the columns of CSV and
    Parquet.
    """

    file: str
    form: str
    first: int
    share: int
    content: Any
    columns: tuple[str, ...] = ()

    def __str__(self) -> str:
        unit = {"json": "element", "parquet": "row"}.get(self.form, "line")
        return f"{self.file}, from {unit} {self.first:,} on"


@dataclass(frozen=True, slots=True)
class Problem:
    """A record that is not valid.

    ``kind`` is ``invalid`` (``errors`` are marshmallow's messages), ``unreadable`` (not what the
    form of the file says) or ``exception`` (code of the schema failed). ``line`` counts from 1:
    lines of NDJSON and CSV, rows of Parquet, elements of a JSON array.
    """

    file: str
    line: int
    kind: str
    errors: Any


@dataclass(slots=True)
class Outcome:
    """The outcome of one partition: its records, problems by line of the file, and what was
    written. ``lost`` says why there is nothing of that."""

    records: int = 0
    problems: list[Problem] = field(default_factory=list)
    output: Any = None
    lost: str = ""


@dataclass(slots=True)
class Summary:
    """The outcome of all partitions. ``lost`` names those that no worker could process."""

    files: int = 0
    records: int = 0
    invalid: int = 0
    unreadable: int = 0
    exceptions: int = 0
    messages: Counter[str] = field(default_factory=Counter)
    lost: list[str] = field(default_factory=list)

    @property
    def valid(self) -> int:
        return self.records - self.invalid - self.unreadable - self.exceptions

    @property
    def good(self) -> bool:
        """Whether every record was read and is valid."""
        return not (self.invalid or self.unreadable or self.exceptions or self.lost)

    def add(self, problem: Problem) -> None:
        """Count one problem."""
        texts = [f"{problem.kind}: {problem.errors}"]
        if problem.kind == "invalid":
            self.invalid += 1
            # Count each message once per record, in the order of the messages.
            texts = list(dict.fromkeys(_paths(problem.errors)))
        elif problem.kind == "unreadable":
            self.unreadable += 1
        else:
            self.exceptions += 1
        for text in texts:
            known = text in self.messages or len(self.messages) < MOST_KINDS
            self.messages[text if known else REST] += 1

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data for JSON, with the most frequent messages first."""
        found = {"files": self.files, "records": self.records, "valid": self.valid, **asdict(self)}
        return found | {"messages": dict(self.messages.most_common())}


def _paths(errors: Any, above: str = "") -> Iterator[str]:
    """Yield each message with its path, without the indexes of lists, so that equal ones are equal.

    >>> list(_paths({"lines": {0: {"price": ["Not a number."]}}}))
    ['lines.*.price: Not a number.']
    """
    if isinstance(errors, dict):
        for key, inner in errors.items():
            name = "*" if isinstance(key, int) else str(key)
            yield from _paths(inner, f"{above}.{name}" if above else name)
    elif isinstance(errors, list):
        for inner in errors:
            yield from _paths(inner, above)
    else:
        yield f"{above}: {errors}"


def as_json(value: Any) -> str:
    """Return standard JSON, which has neither NaN nor Infinity.

    :raises TypeError: a value that JSON has no form for
    :raises ValueError: likewise, of a number
    """
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def be_mapping(record: Any) -> None:
    """Raise TypeError if a hook has returned something else than a mapping."""
    if not isinstance(record, Mapping):
        raise TypeError(f"a record is made of a mapping, not of {type(record).__name__}")


def has_surrogates(text: str) -> bool:
    """Return whether text that was decoded with ``surrogateescape`` was not UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def different(file: str, columns: Sequence[str]) -> tuple[str, ...]:
    """Return these names of columns; BulkError if two are equal."""
    double = sorted({name for name in columns if columns.count(name) > 1})
    if double:
        raise BulkError(f"{file}: more than one column is named {', '.join(map(repr, double))}")
    return tuple(columns)


def by_key(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema's fields by the keys that they have in data."""
    return {
        name if field.data_key is None else field.data_key: field for name, field in fields.items()
    }


@contextmanager
def naming(what: str) -> Iterator[None]:
    """Convert an OSError inside to a BulkError that begins with ``what``, the name of a file."""
    try:
        yield
    except OSError as error:
        raise BulkError(f"{what}: {error.strerror or error}") from error
