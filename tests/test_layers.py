"""Imports run downwards, as the design says; read from the source, nothing is run."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

LAYERS = [
    {"call_errors", "cpython", "marshmallow", "releases", "seam"},
    {"switch"},
    {"formats"},
    {"engine"},
    {"json", "msgpack"},
    {"streams"},
    {"adapters"},
    {"trust"},
    {"bulk"},
    {"__init__"},
    {"cli", "pytest_plugin", "_pyinstaller"},
    {"__main__"},
]
"""From the bottom up. A part may import what lies below it, and itself. The public API
(``__init__``) is what the commands and the plugin are written against."""

ENGINE = [
    {"plan"},
    {"analysis", "objects"},
    {"instances"},
    {"run"},
    {"outside"},
    {"planner"},
    {"kinds"},
    {"door"},
    {"explain"},
]
"""The same for the floors and modules of ``althaia.engine``. The files in a floor's folder are
parts of its module. The compiler refuses what is not in its ``.pxd`` to other floors."""

SEPARATE = {"buildtools", "benchmarks", "demo", "tests"}
"""Packages that the library never imports."""


def part_of(path):
    """The part of the package that a source file belongs to."""
    relative = path.relative_to(ROOT / "althaia")
    return relative.parts[0].removesuffix(path.suffix) if relative.parts else ""


def height(part, layers=LAYERS):
    for level, parts in enumerate(layers):
        if part in parts:
            return level
    raise LookupError(f"{part} is in no layer: add it to those in {Path(__file__).name}")


def sources():
    found = [
        path
        for pattern in ("*.py", "*.pyx", "*.pxd", "*.h")
        for path in sorted((ROOT / "althaia").rglob(pattern))
        if "marshmallow" not in path.relative_to(ROOT / "althaia").parts
    ]
    assert len(found) > 10
    return found


def imported(path):
    """The full names of all modules that a file imports, wherever the import stands."""
    text = path.read_text("utf-8")
    package = ".".join(path.relative_to(ROOT).parent.parts)
    if path.suffix != ".py":
        yield from _imported_by_cython(text)
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, *filter(None, [node.module])])
            yield from (f"{base}.{alias.name}" for alias in node.names)


_CYTHON = re.compile(
    r"^\s*(?:from\s+([\w.]+)\s+c?import\s+(\([^)]*\)|[^\n]+)|c?import\s+([\w., ]+))", re.M
)


# A header is included where its module is imported: `cdef extern from "…"`, `#include "…"`.
_HEADER = re.compile(r'"(althaia/[\w/]+)\.h"')


def _imported_by_cython(text):
    yield from (name.replace("/", ".") for name in _HEADER.findall(text))
    for base, names, plain in _CYTHON.findall(text):
        without_aliases = re.sub(r"\s+as\s+\w+", "", plain or names)
        for name in re.split(r"[\s,()]+", without_aliases):
            if name:
                yield f"{base}.{name}" if base else name


def parts_imported(path):
    """The parts of our own package that a file imports."""
    parts = set()
    for name in imported(path):
        first, _, rest = name.partition(".")
        if first == "althaia":
            head = rest.partition(".")[0]
            is_module = (ROOT / "althaia" / head).is_dir() or any(
                (ROOT / "althaia" / f"{head}{suffix}").exists()
                for suffix in (".py", ".pyx", ".pxd")
            )
            parts.add(head if head and (is_module or head == "marshmallow") else "__init__")
    return parts


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_run_downwards(path):
    own = part_of(path)
    for other in parts_imported(path) - {own}:
        assert height(other) < height(own), f"it imports althaia.{other}, which lies above it"
    names = set(imported(path))
    assert {name.partition(".")[0] for name in names}.isdisjoint(SEPARATE)
    if own == "engine" and path.stat().st_size:
        floor = path.relative_to(ROOT / "althaia" / "engine").parts[0].partition(".")[0]
        for other in {n.split(".")[2] for n in names if n.startswith("althaia.engine.")} - {floor}:
            assert height(other, ENGINE) < height(floor, ENGINE), f"{other} lies above it"


@pytest.mark.parametrize("package", ["buildtools", "benchmarks"])
def test_tools_stand_apart(package):
    others = (SEPARATE | {"tests"}) - {package}
    for path in sorted((ROOT / package).rglob("*.py")):
        names = set(imported(path))
        if path.name == "shipped.py":
            # For type checkers; it takes these modules by their files.
            names -= {f"althaia.releases.{name}" for name in ("digests", "meanings", "patching")}
            names -= {"althaia.releases"}
        roots = {name.partition(".")[0] for name in names}
        assert roots.isdisjoint(others), path
        if package == "buildtools":
            assert "althaia" not in roots, f"{path}: the build must not import what it builds"


def imports_within(part):
    """For each module of a part those of it that it imports, wherever the import stands."""
    paths = (path for path in sources() if part_of(path) == part and path.stem != "__init__")
    head = f"althaia.{part}."
    return {
        path.stem: {name.split(".")[2] for name in imported(path) if name.startswith(head)}
        for path in paths
    }


def circles(imports):
    """The modules that lie on a circle of imports, or above one that is left."""
    left = dict(imports)
    while ready := [name for name, others in left.items() if not others & left.keys()]:
        for name in ready:
            del left[name]
    return set(left)


@pytest.mark.parametrize("part", ["adapters", "bulk", "cli", "releases", "switch", "trust"])
def test_no_two_files_import_each_other(part):
    assert len(imports_within(part)) > 4
    assert not circles(imports_within(part))
    assert circles({"a": {"b"}, "b": {"a"}, "c": set()}) == {"a", "b"}


def test_the_seam_knows_nobody():
    assert not parts_imported(ROOT / "althaia" / "seam.py")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("from a.b cimport c, d", {"a.b.c", "a.b.d"}),
        ("from a cimport b as c", {"a.b"}),
        ("import a\ncimport b.c", {"a", "b.c"}),
        ("from a cimport (\n    b,\n    c,\n)", {"a.b", "a.c"}),
        ('cdef extern from "althaia/a/b.h":', {"althaia.a.b"}),
        ('#include "althaia/a.h"', {"althaia.a"}),
    ],
)
def test_cythons_imports_are_read(text, names):
    assert set(_imported_by_cython(text)) == names
