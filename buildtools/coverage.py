"""Which lines of the engine the tests run: gcov's counts of the C code, by the line it was made of.

Cython writes a comment with file and line above the C code of each statement.
"""

from __future__ import annotations

import collections
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from buildtools import treecopy
from buildtools.errors import BuildError, output_of
from buildtools.layout import Layout

Lines = dict[str, dict[int, int]]
"""How often each executable line ran, by file and number."""

_STATEMENT = re.compile(r'\s*/\* "(althaia/[^"]+)":(\d+)$')


def run(layout: Layout, environ: Mapping[str, str], words: Sequence[str] = ()) -> Iterator[str]:
    """Build in ``build/coverage``, test there, and say which lines did not run.

    :param words: pytest's arguments, in the place of all ordinary tests
    :raises BuildError: the build failed
    """
    tree = layout.work / "coverage"
    treecopy.copy_tree(layout.root, tree)
    for counted in tree.rglob("*.gcda"):
        counted.unlink()
    env = {**environ, "CFLAGS": "-O0 --coverage", "LDFLAGS": "--coverage"}
    python = partial(subprocess.run, cwd=tree, env=env, check=False)
    if python([sys.executable, "-m", "buildtools", "build"]).returncode:
        raise BuildError(str(tree), "the build failed", "the messages above say why")
    chosen = words or ("-n2", "--dist=worksteal", "-m", "not alone and not slow")
    python([sys.executable, "-m", "pytest", "-q", "-pno:cacheprovider", *chosen])
    yield from report(counts(tree))


def counts(tree: Path) -> Lines:
    """What gcov has counted in a tree: lines of ``.pyx``, ``.pxd`` and ``.h`` files of ours."""
    found: Lines = collections.defaultdict(lambda: collections.defaultdict(int))
    for path in sorted(tree.rglob("*.gcda")):
        if "marshmallow" not in path.parts:
            said = output_of("gcov", "--json-format", "--stdout", path, cwd=tree)
            for file in json.loads(said)["files"]:
                _add(found, tree, file)
    return found


def _add(found: Lines, tree: Path, file: Mapping[str, object]) -> None:
    """Add one file's counts; a header is compiled into several modules, a statement is much C."""
    name = str(file["file"])
    if name.endswith(".c"):
        statements = _statements((tree / name).read_text("utf-8").split("\n"))
    elif name.startswith("althaia/"):
        statements = None
    else:
        return
    for line in file["lines"]:  # type: ignore[attr-defined]
        number = line["line_number"]
        where = statements[number] if statements else (name, number)
        if where is not None:
            source, of_source = where
            found[source][of_source] = max(found[source][of_source], line["count"])


def _statements(lines: Sequence[str]) -> list[tuple[str, int] | None]:
    """For each line of a C file, by its number: which line of a source it was made of."""
    where: tuple[str, int] | None = None
    made_of = [where]
    for line in lines:
        if statement := _STATEMENT.match(line):
            where = statement[1], int(statement[2])
        elif line == "}":
            made_of.append(where)
            where = None
            continue
        made_of.append(where)
    return made_of


def report(found: Lines) -> Iterator[str]:
    """A line for each file: how many of its lines ran, and which did not."""
    ran = there = 0
    for name, lines in sorted(found.items()):
        idle = sorted(number for number, count in lines.items() if not count)
        ran, there = ran + len(lines) - len(idle), there + len(lines)
        yield f"{name}: {len(lines) - len(idle)} of {len(lines)}; not {', '.join(map(str, idle))}"
    yield f"{ran} of {there} lines ran ({ran / max(1, there):.1%})"
