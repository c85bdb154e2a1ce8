"""Look after the patch queue: report, write out, refresh, count."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from buildtools.errors import BuildError
from buildtools.shipped import patching
from buildtools.upstream import Upstream

MAX_PATCHES = 16
MAX_ADDED = 80


def read_series(folder: Path) -> list[patching.Patch]:
    """Return the queue in the order of its ``series`` file.

    :raises buildtools.errors.BuildError: a patch is listed but missing, exists but is not listed,
        or is malformed
    """
    series = (folder / "series").read_text("utf-8").split("\n")
    names = [line.strip() for line in series if line.strip() and not line.startswith("#")]
    on_disk = {path.name for path in folder.glob("*.patch")}
    for name in names:
        if name not in on_disk:
            raise BuildError(f"patches/{name}", "listed in series, not there", "fix patches/series")
    for name in sorted(on_disk.difference(names)):
        raise BuildError(f"patches/{name}", "not listed in series", "list it or remove it")
    return [patching.parse(name, (folder / name).read_text("utf-8")) for name in names]


def apply(
    patches: Iterable[patching.Patch], sources: Mapping[str, str], version: str
) -> tuple[dict[str, str], list[tuple[patching.Patch, patching.Hunk, int]]]:
    """Apply the patches for ``version``.

    :param sources: pristine text by file name
    :return: the patched text of all files, and the line where each hunk was applied
    :raises buildtools.errors.BuildError: a hunk does not fit, or fits twice, or the result is not
        valid Python
    """
    texts = dict(sources)
    placed: list[tuple[patching.Patch, patching.Hunk, int]] = []
    for patch in patches:
        if not patch.applies_to(version):
            continue
        if patch.file not in texts:
            raise BuildError(
                f"patches/{patch.name}",
                f"upstream {version} has no {patch.file}",
                "see where its target went, then move or retire the patch",
            )
        file = patching.PatchedFile(texts[patch.file], ast.parse(texts[patch.file]))
        rows = file.apply(patch)
        placed += [(patch, hunk, row) for hunk, row in zip(patch.hunks, rows, strict=True)]
        texts[patch.file] = file.text
        try:
            ast.parse(texts[patch.file], patch.file)
        except SyntaxError as error:
            raise BuildError(
                f"patches/{patch.name}",
                f"leaves {patch.file} without valid syntax: {error}",
                "mend the added lines",
            ) from error
    return texts, placed


def report(queue: list[patching.Patch], source: Upstream) -> Iterator[str]:
    """One line a hunk: where it went, and how far from where its header says.

    :raises buildtools.errors.BuildError: one does not fit
    """
    _, placed = apply(queue, source.texts, source.version)
    yield f"{source.origin} ({source.version})"
    for patch in queue:
        if not patch.applies_to(source.version):
            yield f"  {patch.name}: not for this release ({patch.header['Applies-To']})"
    for patch, hunk, line in placed:
        offset = f", offset {line - hunk.start:+d}" if line != hunk.start else ""
        yield f"  {patch.name}: {hunk.function}, line {line}{offset}"


def write_trees(queue: list[patching.Patch], source: Upstream, target: Path) -> None:
    """Write the pristine sources to ``a`` and the patched ones to ``b`` below ``target``."""
    pristine = source.texts
    patched, _ = apply(queue, pristine, source.version)
    for side, texts in (("a", pristine), ("b", patched)):
        for name, text in texts.items():
            path = target / side / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")


def refresh(folder: Path, source: Upstream) -> list[str]:
    """Rewrite the line numbers of hunk headers; returns the files that changed."""
    queue = read_series(folder)
    pristine = source.texts
    changed = []
    texts = dict(pristine)
    for patch in queue:
        texts, placed = apply([patch], texts, source.version)
        path = folder / patch.name
        before = path.read_text("utf-8")
        lines, growth = before.split("\n"), 0
        headers = [row for row, line in enumerate(lines) if line.startswith("@@ ")]
        for row, (_, hunk, line) in zip(headers, placed, strict=False):
            old, new = (sum(line[0] != sign for line in hunk.lines) for sign in "+-")
            lines[row] = f"@@ -{line - growth},{old} +{line},{new} @@ {hunk.function}"
            growth += new - old
        after = "\n".join(lines)
        if after != before:
            path.write_text(after, "utf-8")
            changed.append(patch.name)
    return changed


def statistics(queue: list[patching.Patch]) -> Iterator[str]:
    """The queue in figures."""
    for patch in queue:
        reason = patch.header["Reason"]
        added, removed = lines(patch, "+"), lines(patch, "-")
        yield f"{patch.name:45} {reason:17} +{added:<3} -{removed:<3} {patch.file}"
    added = sum(lines(patch, "+") for patch in queue)
    yield f"{len(queue)} patches of {MAX_PATCHES}, {added} added lines of {MAX_ADDED}"


def lines(patch: patching.Patch, sign: str) -> int:
    """How many lines a patch adds (``+``) or removes (``-``)."""
    return sum(line[0] == sign for hunk in patch.hunks for line in hunk.lines)
