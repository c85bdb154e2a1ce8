"""Which of upstream's functions still mean what our analysers were written against.

A patch that applies proves nothing about meaning. ``althaia/releases/semantics.toml``
holds a digest of every function, class body and module body of the release somebody read;
where today's source differs, the build says so in the build info and the plans decline
that kind.
"""

from __future__ import annotations

import ast
import difflib
import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from buildtools.errors import BuildError, output_of
from buildtools.shipped import digests as _digests, meanings, patching

Table = meanings.Table

Digests = dict[str, str]


def digests(sources: Mapping[str, str]) -> Digests:
    """The digests of several files' functions, by qualified name."""
    found: Digests = {}
    for name, text in sources.items():
        found |= _digests.of_tree(name, ast.parse(text, name))
    return found


def read_table(path: Path) -> Table:
    """All that is recorded.

    :raises BuildError: the file is missing or malformed
    """
    try:
        return Table.parse(path.read_text("utf-8"))
    except (OSError, TypeError, ValueError) as error:
        raise BuildError(
            str(path),
            f"no usable semantic lock ({error!r})",
            "restore it from version control; 'python -m buildtools semantics refresh' writes it",
        ) from error


def accept(
    table: Table, name: str, found: Digests, version: str, why: str, variant: str | None
) -> None:
    """Note that a function was read as it is in a release.

    :param why: the reason why it is equal; of a variant, what it does instead
    :raises BuildError: there is no such function, neither in the table nor in the release
    """
    if name not in found and name not in table.names():
        raise BuildError(name, "no function of marshmallow's", "'semantics diff' names them")
    readings = table.equal if variant is None else table.variants
    text = f"{version}: {why}" if variant is None else f"{variant}: {version}: {why}"
    readings.setdefault(name, {})[found.get(name, meanings.GONE)] = text


def texts(sources: Mapping[str, str]) -> dict[str, str]:
    """The source of each function and class, by the names of :func:`digests`."""
    found: dict[str, str] = {}
    for file, text in sources.items():
        lines = text.split("\n")
        for name, rows in patching.extents(ast.parse(text, file)).items():
            first, *others = lines[rows.start : rows.stop]
            found[f"{_digests.module_name(file)}.{name}"] = "\n".join([first.lstrip(), *others])
    return found


def resting(names: Sequence[str]) -> dict[str, list[str]]:
    """What of the plans rests on functions, asked of this tree's engine in a process of its own.

    :raises BuildError: it was not built, or has no engine
    """
    if not names:
        return {}
    root = Path(__file__).resolve().parents[1]
    said = output_of(sys.executable, "-m", "tests.plans.narrowing", *names, cwd=root)
    found: dict[str, list[str]] = json.loads(said)
    return found


def page(
    text: str,
    table: Table,
    releases: Mapping[str, Digests],
    suites: Mapping[str, int],
    measured: Mapping[str, Any],
) -> str:
    """``docs/releases.md`` with its tables written anew.

    :param text: the page as it is; ``<!-- table: NAME -->`` and ``<!-- end -->`` are around a table
    :param releases: the digests of each release, newest first
    :param suites: how many tests each release's own suite holds
    :param measured: what ``python -m benchmarks --release`` keeps
    """
    planned, left = [], []
    for version, present in releases.items():
        unread, variants = table.meanings_of_all(present)
        other = sum(present.get(name) != digest for name, digest in table.functions.items())
        counts = (suites[version], other, len(variants), len(unread))
        planned.append([version, *map(str, counts)])
        if unread:
            left.append(f"- {version}: {', '.join(f'`{name}`' for name in unread)}")
    figures: Mapping[str, Any] = measured["releases"]
    shown = [version for version in releases if version in figures]
    cases: Mapping[str, str] = {
        name: head
        for name, head in measured["cases"].items()
        if any(name in figures[version]["ratios"] for version in shown)
    }
    ratios = [
        [version, *(f"{figures[version]['ratios'].get(name, '–')}" for name in cases)]
        for version in shown
    ]
    imports = [
        [version, *(f"{figures[version]['imports'][way]:.0f}" for way in IMPORTS)]
        for version in shown
    ]
    tables = {
        "planned": _markdown(PLANNED, planned),
        "left": "\n".join(["Not planned:", "", *left] if left else []),
        "speed": f"On {measured['machine']}:\n\n{_markdown(['release', *cases.values()], ratios)}",
        "imports": _markdown(["release", *IMPORTS.values()], imports),
    }
    return _TABLE.sub(lambda place: f"{place[1]}\n{tables[place[2]]}\n\n{place[3]}", text)


_TABLE = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
PLANNED = ("release", "its own tests", "functions with other code", "variants", "not planned")
IMPORTS = {
    "real": "marshmallow alone",
    "cached": "patched, cache warm",
    "uncached": "patched, no cache",
}


def _markdown(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    rule = ["---", *["--:"] * (len(heads) - 1)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (heads, rule, *rows))


def changed(before: str, after: str) -> list[str]:
    """What changed in a source, as a diff without its head."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=2, lineterm="")
    return list(lines)[2:]


def render(table: Table) -> str:
    """The text of a semantic lock."""
    lines = [
        *(f"# {line}" for line in HEADER.splitlines()),
        f'version = "{table.version}"',
        "",
        "[functions]",
        *(f'"{name}" = "{value}"' for name, value in sorted(table.functions.items())),
    ]
    for topic, readings in (("equal", table.equal), ("variants", table.variants)):
        for name, by_digest in sorted(readings.items()):
            lines += ["", f'[{topic}."{name}"]']
            lines += [f"{digest} = {json.dumps(text)}" for digest, text in by_digest.items()]
    return "\n".join(lines) + "\n"


HEADER = """\
What upstream's functions mean: each digest here is of code that somebody has read.

functions: of the release below, which the plans were written against.
equal: other code that means the same in all that plans rest on, with the releases and the reason.
variants: code that means something else, in which the engine knows its way: "name: releases: what".
A function whose digest stands nowhere costs the plans that rest on it.
'python -m buildtools semantics diff --release VERSION' shows what is not yet read,
'python -m buildtools semantics accept NAME --release VERSION --why TEXT' records that it was."""
