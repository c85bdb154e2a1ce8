"""Apply the patch queue to the text of upstream's files.

A hunk header names the function that the hunk changes (``@@ -490,3 +490,5 @@ Schema._serialize``),
or ``<module>``. The hunk's old lines must occur exactly once in that function. The line numbers may
differ, the lines may not. Hence one line of context is enough, and one queue fits many releases.

The build and the shipped package both use this module, so it imports nothing of either.
"""

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass

FIELDS = ("Description", "Reason", "Target", "Applies-To", "Remove-When")
REASONS = ("compile", "engine", "seam", "upstream-pending", "start-up")
MODULE_LEVEL = "<module>"
_PATCH = re.compile(r"(.*?)\n--- a/(\S+)\n\+\+\+ b/\2\n(.*)", re.DOTALL)
_FIELD = re.compile(r"^(\S+): (.*)", re.MULTILINE)
_HUNK = re.compile(r"^@@ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@ (\S+)\n", re.MULTILINE)


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

    def __str__(self) -> str:
        return "{}: {}\n  -> {}".format(*self.args)


@dataclass(frozen=True)
class Hunk:
    """A change inside one function. Each of ``lines`` begins with ``' '``, ``'-'`` or ``'+'``."""

    function: str
    start: int
    lines: tuple[str, ...]

    @property
    def old(self) -> list[str]:
        return [line[1:] for line in self.lines if line[0] in " -"]


@dataclass(frozen=True)
class Patch:
    """One file of the queue: a header with the reason, and hunks for one file of upstream."""

    name: str
    header: Mapping[str, str]
    file: str
    hunks: tuple[Hunk, ...]

    def applies_to(self, version: str) -> bool:
        return applies(self.header["Applies-To"], version)


def parse(name: str, text: str) -> Patch:
    """Read one patch file.

    :raises QueueError: its header or its diff has another form than docs/patches.md describes
    """
    found = _PATCH.fullmatch(text)
    header = dict(_FIELD.findall(re.sub(r"\n[ \t]+", " ", found[1] if found else text)))
    _, *hunks = _HUNK.split(found[3].rstrip("\n") + "\n") if found else [""]
    bodies = [body.split("\n")[:-1] for body in hunks[2::3]]
    if missing := [field for field in FIELDS if not header.get(field)]:
        problem = f"the header has no {', '.join(missing)}"
    elif header["Reason"] not in REASONS:
        problem = f"Reason is {header['Reason']!r}, expected one of {', '.join(REASONS)}"
    elif found is None or not bodies or any(line[:1] not in " -+" for b in bodies for line in b):
        problem = (
            "expected '--- a/<file>', '+++ b/<file>' and hunks, each of which names a function"
        )
    else:
        made = [
            Hunk(function, int(start), tuple(line or " " for line in body))
            for start, function, body in zip(hunks[::3], hunks[1::3], bodies, strict=True)
        ]
        return Patch(name, header, found[2], tuple(made))
    raise QueueError(f"patches/{name}", problem, "docs/patches.md shows the form")


class PatchedFile:
    """The text of a file to which patches are applied, one after the other.

    :ivar lines: the present lines, each with the index of the corresponding line of the pristine
        text; an added line has that of the line that it replaces or precedes.
    """

    def __init__(self, text: str, tree: ast.Module) -> None:
        self.lines = list(enumerate(text.split("\n")))
        self._extents = extents(tree)

    @property
    def text(self) -> str:
        """The present text."""
        return "\n".join(line for _, line in self.lines)

    def apply(self, patch: Patch) -> list[int]:
        """Apply all hunks of a patch; return the number of the line where each begins.

        :raises QueueError: a hunk does not fit, or fits twice; those before it are applied
        """
        return [self._apply_hunk(patch, hunk) for hunk in patch.hunks]

    def _apply_hunk(self, patch: Patch, hunk: Hunk) -> int:
        row = at = self._find(patch, hunk)
        placed: list[tuple[int, str]] = []
        before = " "
        for line in hunk.lines:
            if line[0] == "+":
                index, _ = self.lines[min(at - (before == "-"), len(self.lines) - 1)]
                placed.append((index, line[1:]))
                continue
            before = line[0]
            if before == " ":
                placed.append(self.lines[at])
            at += 1
        self.lines[row:at] = placed
        return row + 1

    def _find(self, patch: Patch, hunk: Hunk) -> int:
        """Return where in ``lines`` the first of the hunk's old lines is."""
        where = f"patches/{patch.name}"
        allowed = self._indices(hunk.function)
        if not allowed:
            raise QueueError(
                where,
                f"{patch.file} has no function {hunk.function}",
                "see where upstream moved it, then mend the patch",
            )
        old, fits = hunk.old, []
        for row, (index, _) in enumerate(self.lines):
            if index not in allowed:
                continue
            present = self.lines[row : row + len(old)]
            if [line for _, line in present] == old and allowed.issuperset(dict(present)):
                fits.append(row)
        if len(fits) != 1:
            quoted = "\n".join(f"      |{line}" for line in old)
            raise QueueError(
                where,
                f"expected these lines exactly once inside {hunk.function} of {patch.file}, "
                f"found them {len(fits)} times:\n{quoted}",
                "look at the function as it is now, decide again whether the change is right "
                "there, then mend the patch ('python -m buildtools patches check')",
            )
        return fits[0]

    def _indices(self, function: str) -> set[int]:
        """Return the indices of the pristine lines of a function; or of the lines of the module
        outside functions."""
        if function != MODULE_LEVEL:
            return set(self._extents.get(function, ()))
        inside = {row for name, rows in self._extents.items() if "." not in name for row in rows}
        return {index for index, _ in self.lines} - inside


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def extents(tree: ast.Module) -> dict[str, range]:
    """Return the line indices, from 0, of each function and class by its qualified name.

    If a name is defined several times, the first definition counts.
    """
    found: dict[str, range] = {}
    bodies = [("", tree.body)]
    for prefix, body in bodies:
        for node in body:
            if isinstance(node, _DEFINITIONS) and (name := prefix + node.name) not in found:
                first = [*node.decorator_list, node][0].lineno
                found[name] = range(first - 1, node.end_lineno or first)
                bodies.append((f"{name}.", node.body))
    return found


def applies(specifiers: str, version: str) -> bool:
    """Return whether ``version`` satisfies a comma-separated list such as ``>=3.20, <5``.

    A version without numbers (a development tree) satisfies every list.

    >>> applies(">=4, <5", "4.4.0"), applies(">=4, <5", "3.26.2")
    (True, False)
    """
    bounds = re.findall(r"(>=|<)\s*([\d.]+)", specifiers)
    return not version[:1].isdigit() or all(
        (_number(version) >= _number(bound)) == (sign == ">=") for sign, bound in bounds
    )


def _number(version: str) -> list[int]:
    return list(map(int, re.findall(r"\d+", version)))
