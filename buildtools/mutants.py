"""Mutation: small faults put into the engine, one at a time, that the tests must find.

A mutant is one changed line of a ``.pyx``, ``.pxd`` or ``.h`` file. Its floor is built, and the
tests run until the first failure: those that belong to the module, the quick ones, then all.
"""

from __future__ import annotations

import random
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path

from buildtools import treecopy
from buildtools.errors import BuildError
from buildtools.layout import Layout

# What is replaced, by what: one place of a line for each mutant.
FAULTS = (
    (r" == ", " != "),
    (r" != ", " == "),
    (r" <= ", " < "),
    (r" >= ", " > "),
    (r"(?<=[\w)\]]) < (?=[\w(])", " <= "),
    (r"(?<=[\w)\]]) > (?=[\w(])", " >= "),
    (r" is not (?!None\b)", " is "),
    (r" is not None", " is None"),
    (r" is (?!not\b)", " is not "),
    (r" and | && ", {" and ": " or ", " && ": " || "}),
    (r" or | \|\| ", {" or ": " and ", " || ": " && "}),
    (r" \+ 1\b", " + 2"),
    (r" - 1\b", ""),
    (r"(?<=\bif )not ", ""),
    (r"(?<=\breturn )True\b", "False"),
    (r"(?<=\breturn )False\b", "True"),
    (r"^ +(el)?if \(?.+\)?( \{|:)$", "guard"),
    (r"\bPy_X?INCREF\([^()]+\);?$", "reference"),
    (r"\bPy_X?NewRef(?=\()", ""),
)
MEMORY = 8 << 30
"""Bytes of address space that a process of a mutant may have: some ask for more and more."""

_SKIPPED = re.compile(r"^\s*(#|\*|/\*|@|cdef extern|cimport|from |import |include |assert )")


@dataclass(frozen=True)
class Mutant:
    """One changed line.

    :ivar line: its number, from 1
    """

    path: Path
    line: int
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.path.as_posix()}:{self.line}: {self.before.strip()} -> {self.after.strip()}"


def mutants_of(path: Path, text: str) -> Iterator[Mutant]:
    """Each mutant of a file.

    :param path: relative to the tree
    """
    quoted = False
    for number, line in enumerate(text.split("\n"), 1):
        begun, quoted = quoted, quoted ^ (line.count('"""') % 2 == 1)
        if begun or quoted or '"""' in line or _SKIPPED.match(line):
            continue
        code = re.split(r"\s+#|/\*", line)[0].rstrip()
        for pattern, fault in FAULTS:
            for found in re.finditer(pattern, code):
                if code.count('"', 0, found.start()) % 2:
                    continue  # In a text.
                after = code[: found.start()] + _put(found, fault) + code[found.end() :]
                yield Mutant(path, number, line, after)


def _put(found: re.Match[str], fault: str | Mapping[str, str]) -> str:
    if not isinstance(fault, str):
        return fault[found[0]]
    if fault == "guard":
        head, end = re.match(r"^( *(?:el)?if)\b.*?( \{|:)$", found[0]).groups()  # type: ignore[union-attr]
        return f"{head} {'(0)' if end == ' {' else 'False'}{end}"
    if fault == "reference":
        return "(void)0;" if found[0].endswith(";") else "pass"
    return fault


def draw(layout: Layout, seed: int) -> Iterator[Mutant]:
    """All mutants in an order drawn by ``seed``, a floor after the other."""
    floors: dict[Path, list[Mutant]] = {}
    for path in sorted(layout.package.rglob("*")):
        if path.suffix in {".pyx", ".pxd", ".h"} and layout.generated not in path.parents:
            relative = path.relative_to(layout.root)
            parts = relative.parts[1 : 3 if relative.parts[1] == "engine" else 2]
            floor = Path(*parts).with_suffix("")
            floors.setdefault(floor, []).extend(mutants_of(relative, path.read_text("utf-8")))
    chance = random.Random(seed)
    for each in floors.values():
        chance.shuffle(each)
    while floors := {floor: each for floor, each in floors.items() if each}:
        for each in floors.values():
            yield each.pop()


def run(
    layout: Layout, environ: Mapping[str, str], *, count: int, seed: int, whole: bool
) -> Iterator[str]:
    """Build and test mutants in ``build/mutants``; a line for each, the score in the end.

    :param whole: run all tests on those that the first ones do not find
    :raises BuildError: the tests fail without a mutant
    """
    import resource  # Windows lacks it, and the other commands run there.

    tree = layout.work / "mutants"
    treecopy.copy_tree(layout.root, tree)
    env = {**environ, "CFLAGS": "-O0", "ALTHAIA_REQUIRE_COMPILED": "1"}
    here = partial(
        subprocess.run,
        cwd=tree,
        env=env,
        check=False,
        capture_output=True,
        preexec_fn=partial(resource.setrlimit, resource.RLIMIT_AS, (MEMORY, MEMORY)),
    )
    built = partial(here, [sys.executable, "-m", "buildtools", "build"])

    def finds(tests: Iterable[str]) -> bool:
        words = ("-n2", "--dist=worksteal", "-xqm", "not alone and not slow", "--timeout=120")
        # Some mutants leave processes that wait for ever.
        command = ["timeout", "-k5", "900", sys.executable, "-m", "pytest", *words]
        command += ["-pno:cacheprovider", *tests]
        return bool(here(command).returncode)

    if built().returncode or finds(["@tests/quick.txt"]):
        raise BuildError(
            str(tree), "the build or the tests fail without a fault", "mend that first"
        )
    known = _binaries(tree)
    tried, survivors = 0, []
    for mutant in draw(layout, seed):
        path = tree / mutant.path
        text = path.read_text("utf-8")
        lines = text.split("\n")
        lines[mutant.line - 1] = mutant.after
        path.write_text("\n".join(lines), "utf-8")
        try:
            # What does not compile, or compiles to the same, is no mutant.
            if built().returncode or _binaries(tree) == known:
                continue
            began = time.monotonic()
            nearest = tests_of(mutant.path.relative_to("althaia"), table_of_tests(tree))
            stages = [[f"tests/{name}" for name in nearest], ["@tests/quick.txt"], ["tests"]]
            found = any(finds(tests) for tests in stages[: 3 if whole else 2])
        finally:
            path.write_text(text, "utf-8")
        tried += 1
        if not found:
            survivors.append(mutant)
        yield f"{'found' if found else 'LEFT '} {time.monotonic() - began:4.0f} s  {mutant}"
        if tried == count:
            break
    share = (tried - len(survivors)) / tried
    yield f"{tried - len(survivors)} of {tried} found ({share:.0%}), seed {seed}"


def _binaries(tree: Path) -> dict[Path, str]:
    """The digests of all extension modules."""
    paths = (tree / "althaia").rglob("*.so")
    return {path: sha256(path.read_bytes()).hexdigest() for path in paths}


def table_of_tests(tree: Path) -> dict[str, list[str]]:
    """The tests that ``tests/README.md`` names, by source file or folder."""
    page = (tree / "tests/README.md").read_text("utf-8")
    rows = re.findall(r"^\| (`[^|]+`) \| (.+) \|$", page.partition("| --- |")[2], re.M)
    pairs = [[re.findall(r"`([^`]+)`", cell) for cell in row] for row in rows]
    return {source: tests for sources, tests in pairs for source in sources}


def tests_of(source: Path, table: Mapping[str, list[str]]) -> list[str]:
    """The tests of the nearest row of the table for a source file; none without a row.

    :param source: relative to the package. ``FLOOR.pyx`` and ``FLOOR.pxd`` belong to ``FLOOR``
    """
    names = [source, source.with_suffix(".pyx"), source.with_suffix(""), *source.parents]
    return next((table[name.as_posix()] for name in names if name.as_posix() in table), [])
