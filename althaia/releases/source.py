"""What a process runs of an installed file of marshmallow's: its code, with our hooks in it.

The hooks' code says that it stands where the line that follows it stands in the installed file, so
that tracebacks, debuggers and coverage show that file as it is.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from functools import cache
from importlib.util import decode_source
from typing import TYPE_CHECKING, Any, Final

from althaia.releases import digests, meanings, patching

if TYPE_CHECKING:
    from types import CodeType

PACKAGE: Final = "marshmallow"
RENAMED: Final = "althaia.marshmallow"

Hooked = tuple["CodeType", tuple[str, ...], dict[str, str], dict[str, str]]
"""Code, the patches that do not fit, and by name the digests of functions that nobody has read and
the variants of those that mean something else."""


def hooked(name: str, source: bytes, path: str, version: str, *, engine: bool) -> Hooked:
    """The code of one of marshmallow's files with the hooks that fit.

    :param name: the file, relative to the package: ``experimental/context.py``.
    :param path: where it lies, for tracebacks.
    :param engine: whether there is one for the hooks to ask
    :raises SyntaxError: it is no Python
    """
    text = decode_source(source)
    tree = ast.parse(text, path)
    file = patching.PatchedFile(text, tree)
    # What the C compiler needs is not needed here.
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
    return code, tuple(left_out), *_read_before(name, found)


def _fits(file: patching.PatchedFile, patch: patching.Patch) -> bool:
    try:
        file.apply(patch)
    except patching.QueueError:
        return False
    return True


def _stands_in(other: patching.Patch, patch: patching.Patch) -> bool:
    """Whether a patch does for other releases what this one does, where no version decides."""
    return (
        other.header["Target"] == patch.header["Target"]
        and other.header["Applies-To"] != patch.header["Applies-To"]
    )


@cache
def queue() -> list[patching.Patch]:
    """Our patches, in their order."""
    names = [line for line in _text("patches/series").split("\n") if line and line[0] != "#"]
    return [patching.parse(name, _text(f"patches/{name}")) for name in names]


def _text(name: str) -> str:
    # Not by open(): the package may lie in an archive.
    loader: Any = globals()["__loader__"]
    data: bytes = loader.get_data(os.path.join(os.path.dirname(__file__), *name.split("/")))
    return data.decode().replace("\r\n", "\n")


@cache
def _table() -> meanings.Table:
    return meanings.Table.parse(_text("semantics.toml"))


def _read_before(name: str, found: digests.Digests) -> tuple[dict[str, str], dict[str, str]]:
    """The functions of one file that nobody has read, and those that are variants."""
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
    """Give each node the line of the installed file that it stands for."""
    for node in ast.walk(tree):
        row = getattr(node, "lineno", 0) - 1
        if row < 0:
            continue
        placed: ast.expr = node  # type: ignore[assignment]
        placed.lineno = file.numbers[row]
        if row not in file.added:
            placed.end_lineno = file.numbers[(placed.end_lineno or row + 1) - 1]
            continue
        # All of the line: what a traceback marks there would be a piece of other code.
        line = upstream[placed.lineno - 1].encode()
        placed.end_lineno = placed.lineno
        placed.col_offset = len(line) - len(line.lstrip())
        placed.end_col_offset = len(line)


class _Renamer(ast.NodeTransformer):
    """Has a module import its siblings by the name that we keep them under."""

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
