"""Compiles the installed files of marshmallow with our hooks in them.

The code of a hook gets the line number of the line that follows it in the installed file, so that
tracebacks, debuggers and coverage show the file correctly.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Mapping
from importlib.util import decode_source
from typing import TYPE_CHECKING

from althaia.releases import digests, meanings, patching

if TYPE_CHECKING:
    from types import CodeType

PACKAGE = "marshmallow"
RENAMED = "althaia.marshmallow"

Hooked = tuple[dict[str, "CodeType"], list[str], list[str], dict[str, str]]
"""The code of each file, the patches that do not fit, the functions that were not reviewed, and the
variants of functions that behave differently."""


def hooked(
    sources: Mapping[str, bytes],
    folder: str,
    version: str,
    queue: Mapping[str, bytes],
    lock: bytes,
    *,
    engine: bool,
) -> Hooked:
    """Return the code of marshmallow's files with the hooks that fit.

    A file that is not valid Python has no code, and its functions count as missing.

    :param sources: by file, relative to the package: ``experimental/context.py``.
    :param folder: the package's, for tracebacks.
    :param queue: the patches by name.
    :param lock: the semantic lock.
    :param engine: whether this build has an engine
    """
    codes: dict[str, CodeType] = {}
    left_out: list[str] = []
    found: digests.Digests = {}
    parsed: dict[str, tuple[str, ast.Module]] = {}
    paths = {name: os.path.join(folder, *name.split("/")) for name in sources}
    for name, source in sources.items():
        try:
            text = decode_source(source)
            parsed[name] = text, ast.parse(text, paths[name])
        except (SyntaxError, ValueError):
            continue
        found |= digests.of_tree(name, parsed[name][1])
    table = meanings.Table.parse(decode_source(lock))
    unread, variants = table.meanings_of_all(found)
    # Leave out the patches that only the C compiler or the engine needs.
    unused = ("compile",) if engine else ("compile", "engine")
    every = [patching.parse(name, decode_source(data)) for name, data in queue.items()]
    patches = [p for p in every if p.header["Reason"] not in unused and p.applies_to(version)]
    for name, (text, tree) in parsed.items():
        file = patching.PatchedFile(text, tree)
        left_out += _patched(file, [patch for patch in patches if patch.file == name], unread)
        patched = ast.parse(file.text, paths[name])
        _stand_where_upstream_does(patched, file, text.split("\n"))
        codes[name] = compile(_renamed(patched), paths[name], "exec", dont_inherit=True)
    return codes, left_out, unread, variants


def _patched(
    file: patching.PatchedFile, patches: list[patching.Patch], unread: list[str]
) -> list[str]:
    """Apply the patches of a file. Return the names of those that do not fit."""
    # A target may have two patches. If the version is unknown, both are tried, and one fits.
    reached = set()
    for patch in patches:
        before = file.lines.copy()
        try:
            file.apply(patch)
        except patching.QueueError:
            file.lines = before
            continue
        reached.add(patch.header["Target"])
        if not set(patch.header.get("Rests-On", "").split()).isdisjoint(unread):
            # This hook could never answer, and would only take its time.
            file.lines = before
    return [
        patch.name.removesuffix(".patch")
        for patch in patches
        if patch.header["Target"] not in reached
    ]


def _stand_where_upstream_does(
    tree: ast.Module, file: patching.PatchedFile, upstream: list[str]
) -> None:
    """Set the line number of each node to that of the installed file."""
    indices = [*(index for index, _ in file.lines), -1]
    for node in ast.walk(tree):
        row = getattr(node, "lineno", 0) - 1
        if row < 0:
            continue
        placed: ast.expr = node  # type: ignore[assignment]
        placed.lineno = indices[row] + 1
        placed.end_lineno = indices[(placed.end_lineno or row + 1) - 1] + 1
        if indices[row] == indices[row + 1]:
            # An added line: the columns are those of the whole line that it precedes. Otherwise a
            # traceback would mark a wrong part of it.
            line = upstream[indices[row]].encode()
            placed.end_lineno = placed.lineno
            placed.col_offset = len(line) - len(line.lstrip())
            placed.end_col_offset = len(line)


def _renamed(tree: ast.Module) -> ast.Module:
    """Let imports of sibling modules say the name under which we load them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level == 0:
            package, dot, module = (node.module or "").partition(".")
            if package == PACKAGE:
                node.module = RENAMED + dot + module
    return tree
