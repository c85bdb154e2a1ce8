"""Apply the patch queue to the text of upstream's files.

A hunk header names the function that the hunk changes (``@@ -490,3 +490,5 @@ Schema._serialize``),
or ``<module>``. The hunk's old lines must occur exactly once in that function. The line numbers may
differ, the lines may not. Hence one line of context is enough, and one queue fits many releases.

The build and the shipped package both use this module, so it imports nothing of either.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

FIELDS = ("Description", "Reason", "Target", "Applies-To", "Remove-When")
REASONS = ("collection", "compile", "engine", "seam", "upstream-pending", "start-up")
MODULE_LEVEL = "<module>"
_COMPARE: dict[str, Callable[[tuple[int, ...], tuple[int, ...]], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "<": operator.lt,
    ">": operator.gt,
}
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ (\S+)$")


class QueueError(Exception):
    """Upstream's text, or a patch, is not as expected.

    :param where: the file, and the place in it
    :param problem: what was expected and what was found instead
    :param remedy: how to correct it

    >>> print(QueueError("schema.py", "expected 7 imports, found 8", "run the lock command"))
    schema.py: expected 7 imports, found 8
      -> run the lock command
    """

    def __init__(self, where: str, problem: str, remedy: str) -> None:
        super().__init__(where, problem, remedy)
        self.where = where
        self.problem = problem
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.where}: {self.problem}\n  -> {self.remedy}"


@dataclass(frozen=True)
class Hunk:
    """A change inside one function. Each of ``lines`` begins with ``' '``, ``'-'`` or ``'+'``."""

    function: str
    start: int
    lines: tuple[str, ...]

    @property
    def old(self) -> list[str]:
        return [line[1:] for line in self.lines if line[0] in " -"]

    @property
    def new(self) -> list[str]:
        return [line[1:] for line in self.lines if line[0] in " +"]


@dataclass(frozen=True)
class Patch:
    """One file of the queue: a header with the reason, and hunks for one file of upstream."""

    name: str
    header: Mapping[str, str]
    file: str
    hunks: tuple[Hunk, ...]

    def applies_to(self, version: str) -> bool:
        return applies(self.header["Applies-To"], version)


@dataclass(frozen=True)
class Placed:
    """Where a hunk was applied."""

    patch: str
    function: str
    line: int
    offset: int


def parse(name: str, text: str) -> Patch:
    """Read one patch file.

    :raises QueueError: its header or its diff has another form than docs/patches.md describes
    """

    def wrong(problem: str) -> QueueError:
        return QueueError(f"patches/{name}", problem, "docs/patches.md shows the form")

    head, separator, diff = text.partition("\n--- ")
    if not separator:
        raise wrong("no '--- a/<file>' line")
    header = _parse_header(head)
    for field in FIELDS:
        if not header.get(field):
            raise wrong(f"the header has no {field}")
    if header["Reason"] not in REASONS:
        raise wrong(f"Reason is {header['Reason']!r}, expected one of {', '.join(REASONS)}")
    lines = diff.rstrip("\n").split("\n")
    source, target = lines[0], lines[1] if len(lines) > 1 else ""
    if not source.startswith("a/") or target != f"+++ b/{source[2:]}":
        raise wrong(f"expected '--- a/<file>' and '+++ b/<file>', found {source!r}, {target!r}")
    hunks = tuple(_parse_hunks(lines[2:], wrong))
    if not hunks:
        raise wrong("no hunk")
    return Patch(name, header, source[2:], hunks)


def _parse_header(text: str) -> dict[str, str]:
    header: dict[str, str] = {}
    field = ""
    for line in text.split("\n"):
        if line.startswith((" ", "\t")) and field:
            header[field] += " " + line.strip()
        elif ": " in line:
            field, _, value = line.partition(": ")
            header[field] = value.strip()
    return header


def _parse_hunks(lines: Iterable[str], wrong: Callable[[str], QueueError]) -> Iterator[Hunk]:
    start, function, counts = 0, "", (0, 0)
    body: list[str] = []

    def finished() -> Hunk:
        hunk = Hunk(function, start, tuple(body))
        if (len(hunk.old), len(hunk.new)) != counts:
            raise wrong(
                f"hunk for {function} states {counts[0]} old and {counts[1]} new lines, "
                f"has {len(hunk.old)} and {len(hunk.new)}"
            )
        return hunk

    for line in lines:
        header = _HUNK.match(line)
        if header:
            if body:
                yield finished()
            start, function, body = int(header[1]), header[5], []
            counts = (int(header[2] or 1), int(header[4] or 1))
        elif function and line[:1] in {" ", "-", "+"}:
            body.append(line)
        elif function and line == "":
            body.append(" ")
        else:
            raise wrong(f"unexpected line {line!r} (a hunk header must name its function)")
    if body:
        yield finished()


class PatchedFile:
    """The text of a file to which patches are applied, one after the other.

    The file is parsed once. The lines that a hunk adds move the functions below it.

    :ivar numbers: for each line, the number of the corresponding line of the pristine text; for an
        added line, that of the line that it replaces or precedes.
    :ivar added: the indices of lines that precede a line which still exists.
    """

    def __init__(self, text: str, tree: ast.Module | None = None) -> None:
        self._lines = text.split("\n")
        self.numbers = list(range(1, len(self._lines) + 1))
        self.added: set[int] = set()
        self._extents = extents(ast.parse(text) if tree is None else tree)

    @property
    def text(self) -> str:
        """The present text."""
        return "\n".join(self._lines)

    def apply(self, patch: Patch) -> list[Placed]:
        """Apply all hunks of a patch, or none.

        :raises QueueError: a hunk does not fit, or fits twice
        """
        before = (self._lines.copy(), self.numbers.copy(), set(self.added), dict(self._extents))
        try:
            return [self._apply_hunk(patch, hunk) for hunk in patch.hunks]
        except QueueError:
            self._lines, self.numbers, self.added, self._extents = before
            raise

    def _apply_hunk(self, patch: Patch, hunk: Hunk) -> Placed:
        row = self._find(patch, hunk)
        numbers, added = _numbers(hunk, self.numbers[row : row + len(hunk.old) + 1])
        growth = len(hunk.new) - len(hunk.old)
        self._lines[row : row + len(hunk.old)] = hunk.new
        self.numbers[row : row + len(hunk.old)] = numbers
        self.added = {each + growth if each >= row else each for each in self.added}
        self.added.update(row + each for each in added)
        self._extents = {
            name: range(
                rows.start + growth if rows.start > row else rows.start,
                rows.stop + growth if rows.stop > row else rows.stop,
            )
            for name, rows in self._extents.items()
        }
        return Placed(patch.name, hunk.function, row + 1, row + 1 - hunk.start)

    def _find(self, patch: Patch, hunk: Hunk) -> int:
        """Return the index of the first of the hunk's old lines."""
        where = f"patches/{patch.name}"
        allowed = self._rows(hunk.function)
        if not allowed:
            raise QueueError(
                where,
                f"{patch.file} has no function {hunk.function}",
                "see where upstream moved it, then mend the patch",
            )
        size = len(hunk.old)
        fits = [
            row
            for row in sorted(allowed)
            if self._lines[row : row + size] == hunk.old
            and allowed.issuperset(range(row, row + size))
        ]
        if len(fits) != 1:
            found = "they occur nowhere" if not fits else f"they occur {len(fits)} times"
            quoted = "\n".join(f"      |{line}" for line in hunk.old)
            raise QueueError(
                where,
                f"expected these lines exactly once inside {hunk.function} of {patch.file}, "
                f"{found}:\n{quoted}",
                "look at the function as it is now, decide again whether the change is right "
                "there, then mend the patch ('python -m buildtools patches check')",
            )
        return fits[0]

    def _rows(self, function: str) -> frozenset[int]:
        """Return the indices, from 0, of the lines of a function; or of the lines of the module
        outside functions."""
        if function != MODULE_LEVEL:
            return frozenset(self._extents.get(function, ()))
        inside = {row for name, rows in self._extents.items() if "." not in name for row in rows}
        return frozenset(set(range(len(self._lines))) - inside)


def _numbers(hunk: Hunk, old: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return the pristine line numbers of a hunk's new lines, and which of them are additions.

    :param old: the numbers of its old lines and of the following line, if any
    """
    numbers: list[int] = []
    added: list[int] = []
    removed: list[int] = []
    at = 0
    for line in hunk.lines:
        if line[0] == "-":
            removed.append(old[at])
            at += 1
            continue
        if line[0] == "+" and not removed:
            added.append(len(numbers))
        if line[0] == "+":
            numbers.append(removed.pop(0) if removed else old[min(at, len(old) - 1)])
        else:
            removed.clear()
            numbers.append(old[at])
            at += 1
    return numbers, added


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def extents(tree: ast.Module) -> dict[str, range]:
    """Return the line indices, from 0, of each function and class by its qualified name.

    If a name is defined several times, the first definition counts.
    """
    found: dict[str, range] = {}

    def collect(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            if isinstance(node, _DEFINITIONS) and prefix + node.name not in found:
                first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
                found[prefix + node.name] = range(first - 1, node.end_lineno or node.lineno)
                collect(node.body, f"{prefix}{node.name}.")

    collect(tree.body, "")
    return found


def applies(specifiers: str, version: str) -> bool:
    """Return whether ``version`` satisfies a comma-separated list such as ``>=3.20, <5``.

    A version without numbers (a development tree) satisfies every list.

    >>> applies(">=4, <5", "4.4.0"), applies(">=4, <5", "3.26.2")
    (True, False)
    """
    if not version[:1].isdigit():
        return True
    number = _number(version)
    for specifier in specifiers.split(","):
        found = re.fullmatch(r"\s*(>=|<=|==|<|>)\s*([\d.]+)\s*", specifier)
        if found is None:
            raise ValueError(f"not a version specifier: {specifier.strip()!r}")
        if not _COMPARE[found[1]](number, _number(found[2])):
            return False
    return True


def _number(version: str) -> tuple[int, ...]:
    digits = re.match(r"\d+(?:\.\d+)*", version)
    parts = [int(part) for part in digits[0].split(".")] if digits else []
    return tuple([*parts, 0, 0, 0, 0][:4])
