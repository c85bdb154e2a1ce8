"""What is compiled, and with which directives."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from buildtools.layout import Layout

# Every module says that it can do without the GIL: one that does not turns it on again.
OWN: Mapping[str, bool | int] = {"language_level": 3, "freethreading_compatible": True}
# Upstream's annotations are for people and type checkers. If Cython took them as C types, they
# would refuse subclasses of str, lazy strings and None.
UPSTREAM: Mapping[str, bool | int] = {
    **OWN,
    "binding": True,
    "annotation_typing": False,
    "infer_types": False,
    "autotestdict": False,
}

# A package's own module only says what the package is, and nothing in it could be faster.
INTERPRETED = frozenset({"__init__.py"})

_INCLUDE = re.compile(r'^include "([^"]+)"$', re.M)
_CIMPORT = re.compile(r"^ *from (althaia[\w.]*) cimport", re.M)
_HEADER = re.compile(r'"(althaia/[\w/]+\.h)"')


@dataclass(frozen=True)
class CompiledModule:
    """One extension module to be."""

    name: str
    source: Path
    directives: Mapping[str, bool | int]
    upstream: bool
    parts: tuple[Path, ...] = ()
    """The files that the source includes."""


def compiled_modules(layout: Layout) -> list[CompiledModule]:
    """All modules to compile: the generated ones, and our own by their suffix ``.pyx``.

    A ``.pyx`` file that another one includes is a part of that one. Ours state further directives
    in their header comments.
    """
    upstream = [
        path for path in sorted(layout.generated.rglob("*.py")) if path.name not in INTERPRETED
    ]
    own = [
        path
        for path in sorted(layout.package.rglob("*.pyx"))
        if layout.generated not in path.parents
    ]
    parts = {part for path in own for part in _included(path)}
    own = [path for path in own if path not in parts]
    return [_module(layout, path, UPSTREAM, True) for path in upstream] + [
        _module(layout, path, OWN, False) for path in own
    ]


def _included(path: Path) -> list[Path]:
    """The files that a ``.pyx`` file includes, in their order."""
    return [path.parent / name for name in _INCLUDE.findall(path.read_text("utf-8"))]


def files_read(root: Path, sources: Iterable[Path]) -> list[Path]:
    """The files, relative to ``root``, that Cython and the C compiler read for some sources of
    ours: the sources, the declarations of all modules that they ``cimport`` from, and headers.
    """
    found: set[Path] = set()
    left = list(sources)
    while left:
        path = left.pop()
        if path in found or not (root / path).is_file():
            continue
        found.add(path)
        text = (root / path).read_text("utf-8")
        left += [path.with_suffix(".pxd"), *map(Path, _HEADER.findall(text))]
        left += [Path(name.replace(".", "/") + ".pxd") for name in _CIMPORT.findall(text)]
    return sorted(found)


def _module(
    layout: Layout, path: Path, directives: Mapping[str, bool | int], upstream: bool
) -> CompiledModule:
    relative = path.relative_to(layout.root)
    parts = () if upstream else tuple(part.relative_to(layout.root) for part in _included(path))
    name = ".".join(relative.with_suffix("").parts)
    return CompiledModule(name, relative, directives, upstream, parts)
