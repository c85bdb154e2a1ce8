"""The output files: which ones are allowed, errors of writing, and atomic creation."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import stat
from contextlib import contextmanager, suppress
from functools import partial

from althaia.bulk.pieces import BulkError, naming

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager
    from typing import IO, Any, Self

    from althaia.bulk.summary import Problem


def compare(errors_to: str, inputs: Sequence[str], target: str | None) -> None:
    """Check that the file of errors is neither an input nor the target, before it is truncated.

    The target may be an input: it is replaced after everything has been read.

    :raises BulkError: two names lead to one file
    """
    for other in inputs:
        if _same(other, errors_to):
            raise BulkError(f"{errors_to}: is {_named(other, errors_to)} read: name another file")
    if target is not None and _same(target, errors_to):
        raise BulkError(f"{errors_to}: is {_named(target, errors_to)} written: name another file")


def _same(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        # One of the two files does not exist yet.
        return os.path.realpath(one) == os.path.realpath(other)


def _named(one: str, other: str) -> str:
    return "also" if one == other else f"the same file as {one}, which is"


def _standard(file: str) -> int | None:
    """Return the descriptor, 1 or 2, of a standard stream that is this regular file, or None."""
    try:
        known = os.stat(file)
    except OSError:
        return None
    for descriptor in (1, 2):
        with suppress(OSError):
            if stat.S_ISREG(known.st_mode) and os.path.samestat(known, os.fstat(descriptor)):
                return descriptor
    return None


def writing(file: str) -> AbstractContextManager[None]:
    """Convert errors inside to a BulkError that names ``file``."""
    return naming(f"{file}: cannot be written")


@contextmanager
def appearing(file: str) -> Iterator[IO[bytes]]:
    """Open a file for writing, which gets its name only when it is complete.

    Until then, and if the work ends early, an existing file stays unchanged. If ``file`` is a link,
    its target is written. An existing file keeps its permissions.

    :raises BulkError: it cannot be written, or is something else than a file
    """
    with writing(file):
        try:
            known = os.stat(file).st_mode
        except FileNotFoundError:
            known = None
        if _standard(file) is not None:
            raise BulkError(
                f"{file}: is where messages are printed, and what is written replaces a file when "
                "it is whole: name another file"
            )
        if known is not None and not stat.S_ISREG(known):
            raise BulkError(
                f"{file}: is no regular file, and what is written replaces a file when it is "
                "whole: name a file"
            )
        place = os.path.realpath(file)
        folder, name = os.path.split(place)
        # A new name ("x" fails if it exists), shortened to the longest that a file may have.
        unfinished = os.path.join(folder, f"{name[:50]}.{secrets.token_hex(4)}.part")
        # Nobody may read the unfinished file who may not read the one that it replaces.
        mode = 0o666 if known is None else stat.S_IMODE(known)
    opened = None
    try:
        with writing(file):
            opened = open(unfinished, "xb", opener=partial(os.open, mode=mode))  # noqa: SIM115
        yield opened
        with writing(file):
            opened.close()
            if known is not None:
                shutil.copymode(place, unfinished)
            os.replace(unfinished, place)
    except BaseException:
        with suppress(OSError):
            if opened is not None:
                opened.close()
        # It is missing if a signal came before it was made. The error that ended the work is
        # raised.
        with suppress(OSError):
            os.unlink(unfinished)
        raise


class Problems:
    """Writes each problem as a line of JSON to a file, or to anything else that open() accepts.

    :raises BulkError: at any time, if it cannot be written
    """

    def __init__(self, file: str) -> None:
        self._file = file
        with writing(file):
            # Standard output goes to the same file: use its descriptor, so that its text stays.
            printed = _standard(file)
            opened: str | int = file if printed is None else os.dup(printed)
            self._opened = open(opened, "w", encoding="utf-8")  # noqa: SIM115

    def add(self, problem: Problem) -> None:
        with writing(self._file):
            self._opened.write(json.dumps(problem.as_dict(), default=str) + "\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: Any) -> None:
        if kind is not None:
            # An error ended the work already: it is raised, and not one of closing the file.
            with suppress(OSError):
                self._opened.close()
            return
        with writing(self._file):
            self._opened.close()


def as_json(value: Any) -> str:
    """Return standard JSON, which has neither NaN nor Infinity.

    :raises TypeError: a value that JSON has no form for
    :raises ValueError: likewise, of a number
    """
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
