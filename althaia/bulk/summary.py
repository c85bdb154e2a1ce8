"""The outcome of one partition, and of all partitions together."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

MOST_KINDS = 1_000
"""The most different messages that are counted separately; the others share one counter."""
REST = "other errors"


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

    def as_dict(self) -> dict[str, Any]:
        return {"file": self.file, "line": self.line, "kind": self.kind, "errors": self.errors}


@dataclass(slots=True)
class Outcome:
    """The outcome of one partition: its lines, records, problems by line, and what was written."""

    lines: int = 0
    records: int = 0
    problems: list[tuple[int, str, Any]] = field(default_factory=list)
    output: Any = None


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
        if problem.kind == "invalid":
            self.invalid += 1
            # Count each message once per record, in the order of the messages.
            texts = list(dict.fromkeys(_paths(problem.errors)))
        else:
            if problem.kind == "unreadable":
                self.unreadable += 1
            else:
                self.exceptions += 1
            texts = [f"{problem.kind}: {problem.errors}"]
        for text in texts:
            known = text in self.messages or len(self.messages) < MOST_KINDS
            self.messages[text if known else REST] += 1

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data for JSON, with the most frequent messages first."""
        return {
            "files": self.files,
            "records": self.records,
            "valid": self.valid,
            "invalid": self.invalid,
            "unreadable": self.unreadable,
            "exceptions": self.exceptions,
            "messages": dict(self.messages.most_common()),
            "lost": self.lost,
        }


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
