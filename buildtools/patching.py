"""Apply the patch queue to pristine upstream text: strictly, inside named functions only.

A hunk header names the function (``@@ -490,3 +490,5 @@ Schema._serialize``) or ``<module>``.
The hunk's old lines must occur exactly once within it; where inside does not matter, so the
line numbers may be off, but no line may differ. One line of context is enough that way, and
one queue fits many releases.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from buildtools.errors import BuildError
from buildtools.versions import applies

FIELDS = ("Description", "Reason", "Target", "Applies-To", "Remove-When")
REASONS = ("collection", "compile", "engine", "seam", "upstream-pending", "start-up")
MODULE_LEVEL = "<module>"
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ (\S+)$")


@dataclass(frozen=True)
class Hunk:
    """A change inside one function: ``lines`` keep their ``' '``, ``'-'`` or ``'+'``."""

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
    """One file of the queue: a header that says why, and hunks for one file of upstream."""

    name: str
    header: Mapping[str, str]
    file: str
    hunks: tuple[Hunk, ...]

    @property
    def added(self) -> int:
        return sum(line[0] == "+" for hunk in self.hunks for line in hunk.lines)

    @property
    def removed(self) -> int:
        return sum(line[0] == "-" for hunk in self.hunks for line in hunk.lines)

    def applies_to(self, version: str) -> bool:
        return applies(self.header["Applies-To"], version)


@dataclass(frozen=True)
class Placed:
    """Where a hunk went."""

    patch: str
    function: str
    line: int
    offset: int


def read_series(folder: Path) -> list[Patch]:
    """The queue, in the order of its ``series`` file.

    :raises BuildError: a patch is listed and missing, or there and not listed, or malformed
    """
    series = (folder / "series").read_text("utf-8").split("\n")
    names = [line.strip() for line in series if line.strip() and not line.startswith("#")]
    on_disk = {path.name for path in folder.glob("*.patch")}
    for name in names:
        if name not in on_disk:
            raise BuildError(f"patches/{name}", "listed in series, not there", "fix patches/series")
    for name in sorted(on_disk.difference(names)):
        raise BuildError(f"patches/{name}", "not listed in series", "list it or remove it")
    return [parse(name, (folder / name).read_text("utf-8")) for name in names]


def parse(name: str, text: str) -> Patch:
    """Read one patch file.

    :raises BuildError: its header or its diff is not of the form patches/README.md describes
    """

    def wrong(problem: str) -> BuildError:
        return BuildError(f"patches/{name}", problem, "patches/README.md shows the form")

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


def _parse_hunks(lines: Iterable[str], wrong: Callable[[str], BuildError]) -> Iterator[Hunk]:
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


def apply(
    patches: Iterable[Patch], sources: Mapping[str, str], version: str
) -> tuple[dict[str, str], list[Placed]]:
    """Apply each patch that is for ``version``; what it touches must fit exactly.

    :param sources: pristine text by file name
    :return: the text of all files, patched, and where each hunk went
    :raises BuildError: a hunk does not fit, or fits twice, or the result is no Python
    """
    texts = dict(sources)
    placed: list[Placed] = []
    for patch in patches:
        if not patch.applies_to(version):
            continue
        if patch.file not in texts:
            raise BuildError(
                f"patches/{patch.name}",
                f"upstream {version} has no {patch.file}",
                "see where its target went, then move or retire the patch",
            )
        for hunk in patch.hunks:
            texts[patch.file], place = _apply_hunk(patch, hunk, texts[patch.file])
            placed.append(place)
        try:
            ast.parse(texts[patch.file], patch.file)
        except SyntaxError as error:
            raise BuildError(
                f"patches/{patch.name}",
                f"leaves {patch.file} without valid syntax: {error}",
                "mend the added lines",
            ) from error
    return texts, placed


def _apply_hunk(patch: Patch, hunk: Hunk, text: str) -> tuple[str, Placed]:
    lines = text.split("\n")
    where = f"patches/{patch.name}"
    allowed = _rows(hunk.function, text)
    if not allowed:
        raise BuildError(
            where,
            f"{patch.file} has no function {hunk.function}",
            "see where upstream moved it, then mend the patch",
        )
    size = len(hunk.old)
    fits = [
        row
        for row in sorted(allowed)
        if lines[row : row + size] == hunk.old and allowed.issuperset(range(row, row + size))
    ]
    if len(fits) != 1:
        found = "they occur nowhere" if not fits else f"they occur {len(fits)} times"
        quoted = "\n".join(f"      |{line}" for line in hunk.old)
        raise BuildError(
            where,
            f"expected these lines exactly once inside {hunk.function} of {patch.file}, "
            f"{found}:\n{quoted}",
            "look at the function as it is now, decide again whether the change is right "
            "there, then mend the patch ('python -m buildtools patches check')",
        )
    row = fits[0]
    lines[row : row + size] = hunk.new
    return "\n".join(lines), Placed(patch.name, hunk.function, row + 1, row + 1 - hunk.start)


def _rows(function: str, text: str) -> frozenset[int]:
    """Line indices (from 0) that belong to a function, or to the module and no function."""
    tree = ast.parse(text)
    if function == MODULE_LEVEL:
        inside = {
            row
            for node in tree.body
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            for row in _extent(node)
        }
        return frozenset(set(range(text.count("\n") + 1)) - inside)
    nodes: list[ast.stmt] = list(tree.body)
    node: ast.stmt | None = None
    for part in function.split("."):
        node = next(
            (
                n
                for n in nodes
                if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
                and n.name == part
            ),
            None,
        )
        if node is None:
            return frozenset()
        nodes = list(node.body)
    assert node is not None
    return frozenset(_extent(node))


def _extent(node: ast.stmt) -> range:
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
    return range(first - 1, node.end_lineno or node.lineno)
