"""Compiles the installed files of marshmallow with our hooks in them.

The code of a hook gets the line number of the line that follows it in the installed file, so that
tracebacks, debuggers and coverage show the file correctly.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from importlib.util import decode_source
from typing import TYPE_CHECKING, Final

from althaia.releases import digests, meanings, patching
from althaia.releases.bytecode import data_of, patch_queue

if TYPE_CHECKING:
    from types import CodeType

PACKAGE: Final = "marshmallow"
RENAMED: Final = "althaia.marshmallow"

Hooked = tuple["CodeType", tuple[str, ...], dict[str, str], dict[str, str]]
"""The code, the patches that do not fit, the digests of functions that were not reviewed, by name,
and the variants of functions that behave differently."""


def hooked(name: str, source: bytes, path: str, version: str, *, engine: bool) -> Hooked:
    """Return the code of one of marshmallow's files with the hooks that fit.

    :param name: the file, relative to the package: ``experimental/context.py``.
    :param path: its full path, for tracebacks.
    :param engine: whether this build has an engine
    :raises SyntaxError: the file is not valid Python
    """
    text = decode_source(source)
    tree = ast.parse(text, path)
    file = patching.PatchedFile(text, tree)
    # Leave out the patches that only the C compiler needs.
    unused = ("compile", "collection" if engine else "engine")
    patches = [
        patch
        for patch in queue()
        if patch.file == name and patch.header["Reason"] not in unused and patch.applies_to(version)
    ]
    missed = [patch for patch in patches if not _fits(file, patch)]
    left_out = [
        patch.name.removesuffix(".patch")
        for patch in missed
        if not any(_stands_in(other, patch) for other in patches if other not in missed)
    ]
    found = digests.of_tree(name, tree)
    patched = ast.parse(file.text, path)
    _stand_where_upstream_does(patched, file, text.split("\n"))
    code = compile(_Renamer().visit(patched), path, "exec", dont_inherit=True)
    return code, tuple(left_out), *read_before(name, found)


def _fits(file: patching.PatchedFile, patch: patching.Patch) -> bool:
    try:
        file.apply(patch)
    except patching.QueueError:
        return False
    return True


def _stands_in(other: patching.Patch, patch: patching.Patch) -> bool:
    """Return whether another patch does for other releases what this one does. If the version is
    unknown, both are tried, and one of them does not fit."""
    return (
        other.header["Target"] == patch.header["Target"]
        and other.header["Applies-To"] != patch.header["Applies-To"]
    )


@cache
def queue() -> list[patching.Patch]:
    """Return our patches in their order."""
    return [patching.parse(name, _text(data)) for name, data in patch_queue().items()]


def _text(data: bytes) -> str:
    return data.decode().replace("\r\n", "\n")


@cache
def _table() -> meanings.Table:
    return meanings.Table.parse(_text(data_of("semantics.toml")))


def read_before(name: str, found: digests.Digests) -> tuple[dict[str, str], dict[str, str]]:
    """Return the functions of one file that were not reviewed, with their digests; and those that
    behave differently, with the name of the variant.

    :param found: the digests of the file; empty if the release does not have it
    """
    module = digests.module_name(name)
    gone = {
        each: meanings.GONE
        for each in _table().names()
        if each == module or each.startswith(f"{module}.")
    }
    present = gone | found
    what = _table().meanings(present)
    return {each: present[each] for each in what.unread}, what.variants


def _stand_where_upstream_does(
    tree: ast.Module, file: patching.PatchedFile, upstream: list[str]
) -> None:
    """Set the line number of each node to that of the installed file."""
    for node in ast.walk(tree):
        row = getattr(node, "lineno", 0) - 1
        if row < 0:
            continue
        placed: ast.expr = node  # type: ignore[assignment]
        placed.lineno = file.numbers[row]
        if row not in file.added:
            placed.end_lineno = file.numbers[(placed.end_lineno or row + 1) - 1]
            continue
        # Set the columns of the whole line. Otherwise a traceback would mark a wrong part of it.
        line = upstream[placed.lineno - 1].encode()
        placed.end_lineno = placed.lineno
        placed.col_offset = len(line) - len(line.lstrip())
        placed.end_col_offset = len(line)


class _Renamer(ast.NodeTransformer):
    """Rewrites imports of sibling modules to the name under which we load them."""

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.ImportFrom:
        if node.level == 0 and node.module is not None and _is_marshmallow(node.module):
            node.module = RENAMED + node.module.removeprefix(PACKAGE)
        return node

    def visit_Import(self, node: ast.Import) -> list[ast.stmt]:
        return [ast.copy_location(each, node) for alias in node.names for each in _imported(alias)]


def _imported(alias: ast.alias) -> Iterator[ast.stmt]:
    """``import marshmallow.fields`` binds the name ``marshmallow``."""
    if not _is_marshmallow(alias.name):
        yield ast.Import([alias])
        return
    name = RENAMED + alias.name.removeprefix(PACKAGE)
    yield ast.Import([ast.copy_location(ast.alias(name, alias.asname), alias)])
    if alias.asname is None:
        package, _, bound = RENAMED.rpartition(".")
        yield ast.ImportFrom(package, [ast.copy_location(ast.alias(bound), alias)], 0)


def _is_marshmallow(name: str) -> bool:
    return name == PACKAGE or name.startswith(f"{PACKAGE}.")
