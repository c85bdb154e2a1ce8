"""Look after the patch queue: report, write out, refresh, count."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from buildtools.shipped import patching
from buildtools.upstream import Upstream

MAX_PATCHES = 16
MAX_ADDED = 80


def report(queue: list[patching.Patch], source: Upstream) -> Iterator[str]:
    """One line a hunk: where it went, and how far from where its header says.

    :raises buildtools.errors.BuildError: one does not fit
    """
    _, placed = patching.apply(queue, _texts(source), source.version)
    yield f"{source.origin} ({source.version})"
    for patch in queue:
        if not patch.applies_to(source.version):
            yield f"  {patch.name}: not for this release ({patch.header['Applies-To']})"
    for place in placed:
        offset = f", offset {place.offset:+d}" if place.offset else ""
        yield f"  {place.patch}: {place.function}, line {place.line}{offset}"


def write_trees(queue: list[patching.Patch], source: Upstream, target: Path) -> None:
    """Write the pristine sources to ``a`` and the patched ones to ``b`` below ``target``."""
    pristine = _texts(source)
    patched, _ = patching.apply(queue, pristine, source.version)
    for side, texts in (("a", pristine), ("b", patched)):
        for name, text in texts.items():
            path = target / side / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")


def refresh(folder: Path, source: Upstream) -> list[str]:
    """Rewrite the line numbers of hunk headers; returns the files that changed."""
    queue = patching.read_series(folder)
    pristine = _texts(source)
    changed = []
    texts = dict(pristine)
    for patch in queue:
        texts, placed = patching.apply([patch], texts, source.version)
        path = folder / patch.name
        before = path.read_text("utf-8")
        lines, growth = before.split("\n"), 0
        headers = [row for row, line in enumerate(lines) if line.startswith("@@ ")]
        for row, hunk, place in zip(headers, patch.hunks, placed, strict=False):
            old, new = len(hunk.old), len(hunk.new)
            lines[row] = f"@@ -{place.line - growth},{old} +{place.line},{new} @@ {hunk.function}"
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
        yield f"{patch.name:45} {reason:17} +{patch.added:<3} -{patch.removed:<3} {patch.file}"
    added = sum(patch.added for patch in queue)
    yield f"{len(queue)} patches of {MAX_PATCHES}, {added} added lines of {MAX_ADDED}"


def _texts(source: Upstream) -> dict[str, str]:
    return {name: source.text(name) for name in source.modules}
