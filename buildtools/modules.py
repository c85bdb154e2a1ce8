"""What is compiled, and with which directives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from buildtools.layout import Layout

# Every module says it: a single one that does not turns the GIL back on for the process.
OWN: Mapping[str, bool | int] = {"language_level": 3, "freethreading_compatible": True}
# Upstream's annotations are for people and type checkers. Taken as C types they would refuse
# subclasses of str, lazy strings and None.
UPSTREAM: Mapping[str, bool | int] = {
    **OWN,
    "binding": True,
    "annotation_typing": False,
    "infer_types": False,
    "autotestdict": False,
}

# A package's own module says what the package is; there is nothing in it to make faster.
INTERPRETED = frozenset({"__init__.py"})


@dataclass(frozen=True)
class CompiledModule:
    """One extension module to be."""

    name: str
    source: Path
    directives: Mapping[str, bool | int]
    upstream: bool


def compiled_modules(layout: Layout) -> list[CompiledModule]:
    """All modules to compile: the generated ones, and our own by their suffix ``.pyx``.

    Ours state further directives in their header comments.
    """
    upstream = [
        path for path in sorted(layout.generated.rglob("*.py")) if path.name not in INTERPRETED
    ]
    own = [
        path
        for path in sorted(layout.package.rglob("*.pyx"))
        if layout.generated not in path.parents
    ]
    return [_module(layout, path, UPSTREAM, True) for path in upstream] + [
        _module(layout, path, OWN, False) for path in own
    ]


def interpreted_modules(layout: Layout) -> list[Path]:
    """Generated modules that stay interpreted."""
    return [path for path in sorted(layout.generated.rglob("*.py")) if path.name in INTERPRETED]


def _module(
    layout: Layout, path: Path, directives: Mapping[str, bool | int], upstream: bool
) -> CompiledModule:
    relative = path.relative_to(layout.root)
    return CompiledModule(".".join(relative.with_suffix("").parts), relative, directives, upstream)
