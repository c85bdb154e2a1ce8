"""``python -m benchmarks.report``: docs/performance-tables.md and its charts from kept results."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchmarks import results, sections
from benchmarks.environments import ROOT

DOCUMENT = ROOT / "docs" / "performance-tables.md"
# docs/performance.md is written by hand: it says in words what these pages hold.
SERVICE = ROOT / "docs" / "performance-service.md"
FILES = ROOT / "docs" / "performance-files.md"
WIRE = ROOT / "docs" / "performance-wire.md"
CHARTS = ROOT / ".bench" / "charts"

Run = Mapping[str, Any]

TABLES = {
    "dump": "Dumping",
    "load": "Loading",
    "instance": "A schema for each call",
    "text": "JSON text",
}
CHARTED = {
    "dump": ("quotes-1000", "children-100", "flat-objects", "orders", "small", "flat-orm"),
    "load": ("load-quotes-1000", "load-flat", "load-orders", "load-small", "load-validated",
             "load-quotes-1000-invalid"),
}  # fmt: skip
GROWING = ("growth-10", "growth-100", "growth-1000", "flat-dicts", "growth-100000")

REASONS = {
    "hand-written": "functions written for this one shape. They do not look for missing "
    "attributes, hooks, overridden methods or a changed schema, and stop at the first error.",
    "msgspec": "its own classes with a fixed layout in memory, known when the class is made, so "
    "there is nothing to look up and nothing to watch for changes; it stops at the first error.",
    "pydantic": "its own classes, whose validators are compiled in Rust when the class is made "
    "and cannot be changed afterwards.",
    "cattrs": "Python generated for one class, which is read by attribute without asking "
    "whether it is there.",
    "mashumaro": "Python generated into the class, which is read by attribute without asking "
    "whether it is there; no validation beyond types.",
    "recipe": "dataclasses with a fixed set of fields, compiled in Rust.",
    "orjson": "a library in Rust writes the same dictionaries.",
    "msgspec-encoder": "a library in C writes the same dictionaries.",
    "deepfried": "Python generated for the schema; it leaves out calls that upstream makes.",
    "althaia-4.3.0": "it freezes a schema at first use.",
    "no-plans": "it makes no plan, which a schema that is used once pays for and hardly uses.",
}

INTRODUCTION = """\
# Performance: all cases by interpreter

For readers of [performance](performance.md) who want every row. `make bench-all` writes this page.

| column | meaning |
| --- | --- |
| work | what is dumped or loaded, with the name that `--case` takes |
| marshmallow, µs per object | processor time of marshmallow {upstream}, unpatched |
| althaia | 10×: a tenth of marshmallow's time; ±: half the range of the middle half of the rounds |
| althaia, `ALTHAIA_PLANS=0` | compiled marshmallow without plans |
| althaia 4.3.0 | the older code base |
| all other columns | other libraries at the same work; –: they cannot, or were not measured |

Outputs are compared with marshmallow's before anything is timed. If they differ, the table says
**WRONG** and gives no figure.

A run draws charts into `.bench/charts` and keeps its raw results in `.bench`. The nightly workflow
attaches both. `benchmarks/baseline.json` has the instructions of each case, counted by callgrind;
CI says when a ratio moves by more than 3 %.
"""

METHOD = """\
## What is measured

- The same schemas and data for every drop-in (`benchmarks/cases/`). Libraries with schemas of
  their own get models (`benchmarks/runners/`), whose instances are made before the clock starts;
  only the conversion of ORM rows, which they do not know, counts.
- A process and an environment for each library, taking turns in alternating order. A ratio is to
  the marshmallow of the same run; peers, single fields and growth may come from an earlier one.
- Processor time of the working thread.
- The cyclic garbage collector is off while the clock runs, as in `timeit`. It is on for a schema
  for each call, because nobody else frees marshmallow's instances, and in the cases that say so.
- Outputs are equal by value, type and order for drop-ins. For the others the order of keys and
  the spelling of UTC (`Z` or `+00:00`) are not compared, and of errors only their places.
- Features a library lacks are added in Python where an application would have to, or the case is
  left out (–). E-mail and web addresses are checked by whatever the library offers; mashumaro and
  marshmallow-recipe offer nothing.
- Reading from a database and the network is not measured here, but by `make bench-service`.

## How to reproduce

<!-- skip: next "each runs for minutes" -->
```console
$ make bench                                       # ours, marshmallow, hand-written; minutes
$ make bench-all                                   # everybody, and this page
$ make bench BENCH_ARGS="--case orders"            # one case
$ make bench BENCH_ARGS="--upstream-script FILE"   # marshmallow's own script, both sides
$ python -m althaia bench package.module:Schema    # your own schema
$ python -m benchmarks.instructions --check        # what CI asks: has a ratio moved over 3 %?
```
"""


def write() -> None:
    """Write the document and its charts; raises FileNotFoundError when no run is kept."""
    runs = results.saved()
    if not runs:
        raise FileNotFoundError(f"no results in {results.FOLDER}: run make bench-all first")
    newest = list(runs)[-1]
    upstream = runs[newest]["libraries"]["upstream"]["versions"]["marshmallow"]
    parts = [INTRODUCTION.format(upstream=upstream), METHOD]
    DOCUMENT.parent.mkdir(exist_ok=True)
    text = "\n\n".join(part.strip("\n") for part in parts) + "\n"
    DOCUMENT.write_text(sections.carried(DOCUMENT, text))
    for version, run in runs.items():
        _draw(run, version)
        parts = [f"## CPython {version}", *_machine(run), *_goals(run), *_rest(run), *_slower(run)]
        sections.replace(DOCUMENT, f"cpython-{version}", "make bench-all", parts)


def markdown_table(heads: Sequence[str], lines: Iterator[Sequence[str]], left: int = 1) -> str:
    """A table in Markdown; the first ``left`` columns are text, the others figures."""
    rule = ["---"] * left + ["--:"] * (len(heads) - left)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (heads, rule, *lines))


def _machine(run: Run) -> Iterator[str]:
    machine = run["machine"]
    yield (
        f"{machine['python']} ({machine['compiler']}) on {machine['processor']}, "
        f"{machine['cores']} cores, {machine['system']}."
    )
    named = []
    for library in run["libraries"].values():
        found = {k: v for k, v in (library["versions"] or {}).items() if k != "Python"}
        if found and library["label"] not in named:
            inside = ", ".join(f"{name} {number}" for name, number in found.items())
            named.append(f"{library['label']} ({inside})")
    yield f"Took part: {'; '.join(named)}."
    for library in run["libraries"].values():
        if library["absent"]:
            yield f"{library['label']} could not be installed."


def _draw(run: Run, version: str) -> None:
    from benchmarks import charts

    cases = {case["name"]: case for case in run["cases"]}
    labels = _labels(run)
    for table, names in CHARTED.items():
        if shown := [cases[name] for name in names if name in cases]:
            file = CHARTS / f"{table}-{version}.svg"
            charts.bars(shown, labels, f"times as fast as marshmallow, CPython {version}", file)
    points = {
        name: [
            (cases[case]["objects"], cases[case]["results"][name]["us"])
            for case in GROWING
            if case in cases and cases[case]["results"].get(name, {}).get("us")
        ]
        for name in ("upstream", "althaia", "hand-written")
    }
    if all(len(seen) > 1 for seen in points.values()):
        charts.growth(points, labels, CHARTS / f"growth-{version}.svg")


def _goals(run: Run) -> Iterator[str]:
    """The rows with a goal, beside what everybody else does."""
    names = [name for name in run["libraries"] if name != "upstream"]
    labels = _labels(run)
    for table, heading in TABLES.items():
        cases = [c for c in run["cases"] if c["goal"] and c["goal"]["table"] == table]
        # In the instance table most others have no entry: a column of dashes says nothing.
        taking_part = [n for n in names if any(n in case["results"] for case in cases)]
        lines = [_goal_line(case, taking_part) for case in cases]
        if not lines:
            continue
        yield f"### {heading}"
        yield markdown_table(
            [
                "work",
                "marshmallow, µs per object",
                *(labels[n] for n in taking_part),
            ],
            iter(lines),
        )


def _goal_line(case: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    upstream = case["results"]["upstream"]["us"]
    return [
        f"{case['title']} <br>`{case['name']}`",
        f"{upstream:.2f}",
        *(_cell(case["results"].get(name), name == "althaia") for name in names),
    ]


def _cell(result: Mapping[str, Any] | None, bold: bool = False) -> str:
    if result is None:
        return "–"
    if result["wrong"]:
        return "**WRONG**"
    if result["ratio"] is None:
        return "failed"
    ratio = result["ratio"]
    text = f"{ratio['median']:.1f}×"
    return f"**{text} ±{(ratio['high'] - ratio['low']) / 2:.1f}**" if bold else text


def _rest(run: Run) -> Iterator[str]:
    """Everything without a goal: sizes, growth, memory, and each kind of field alone."""
    names = [name for name in run["libraries"] if name != "upstream"]
    labels = _labels(run)
    other = [c for c in run["cases"] if not c["goal"] and c["family"] != "kinds"]
    if other:
        yield "### Other work"
        yield markdown_table(
            ["work", "marshmallow, µs per object", *(labels[name] for name in names)],
            (
                [
                    case["title"],
                    f"{case['results']['upstream']['us']:.2f}",
                    *(_cell(case["results"].get(name)) for name in names),
                ]
                for case in other
            ),
        )
    if "memory" in run:
        yield from _memory(run)
    kinds = [case for case in run["cases"] if case["family"] == "kinds"]
    if kinds:
        yield "<details><summary>Each kind of field alone</summary>"
        yield markdown_table(
            ["field", "marshmallow, µs per object", "althaia"],
            (
                [
                    case["title"],
                    f"{case['results']['upstream']['us']:.2f}",
                    _cell(case["results"].get("althaia")),
                ]
                for case in kinds
            ),
        )
        yield "</details>"


def _memory(run: Run) -> Iterator[str]:
    theirs, ours = run["memory"]["upstream"], run["memory"]["althaia"]
    yield "### Memory and start-up"
    yield markdown_table(
        ["", "marshmallow", "althaia"],
        iter(
            [
                (
                    f"peak of dumping {ours['objects']:,} quotes, traced",
                    f"{theirs['peak']['traced'] / 2**20:,.0f} MiB",
                    f"{ours['peak']['traced'] / 2**20:,.0f} MiB",
                ),
                (
                    "the process at its peak, the objects included",
                    f"{theirs['peak']['resident'] / 2**20:,.0f} MiB",
                    f"{ours['peak']['resident'] / 2**20:,.0f} MiB",
                ),
                (
                    "a schema instance, used once",
                    f"{theirs['instance']['bytes']:,.0f} bytes",
                    f"{ours['instance']['bytes']:,.0f} bytes",
                ),
                (
                    "objects of it that only the cyclic collector frees",
                    f"{theirs['instance']['cyclic']:.0f}",
                    f"{ours['instance']['cyclic']:.0f}",
                ),
                *_starts(run),
            ]
        ),
    )


def _starts(run: Run) -> Iterator[Sequence[str]]:
    """What a process takes before plans pay: the import, the engine, classes of five fields."""
    taken = run["imports"]
    yield ("`import marshmallow`", *(f"{taken[way]:.0f} ms" for way in ("upstream", "althaia")))
    if not run.get("classes"):
        return
    theirs, ours = (run["classes"][way] for way in ("upstream", "althaia"))
    for title, *both in zip(
        ("the first schema class, which loads the engine",
         "a class of five fields, dumped and loaded 4 times", "the same, 40 times"),
        theirs, ours, strict=True,
    ):  # fmt: skip
        size, name = (2**20, "MB") if title.startswith("the first") else (2**10, "KB")
        cells = [f"{one['bytes'] / size:.1f} {name}" for one in both]
        if name == "MB":
            cells = [
                f"{1e3 * one['seconds']:.1f} ms, {cell}"
                for one, cell in zip(both, cells, strict=True)
            ]
        yield (title, *cells)


def _slower(run: Run) -> Iterator[str]:
    """Where somebody else is faster than we are, and why."""
    yield "### Where we are slower, and why"
    faster: dict[str, list[str]] = {}
    for case in run["cases"]:
        ours = case["results"].get("althaia", {}).get("ratio")
        for name, result in case["results"].items():
            if not ours or not result["ratio"] or name in ("althaia", "upstream"):
                continue
            # Less than a tenth apart is no difference on a shared machine.
            times = result["ratio"]["median"] / ours["median"]
            if times > 1.1 and case["family"] != "kinds":
                faster.setdefault(name, []).append(f"{case['name']} {times:.1f}×")
    if not faster:
        yield "Nowhere in this run."
    labels = _labels(run)
    for name, where in faster.items():
        yield (
            f"- **{labels[name]}**, faster than us by: {', '.join(where)}. "
            f"What it does differently: {REASONS[name]}"
        )


def _labels(run: Run) -> dict[str, str]:
    return {name: library["label"] for name, library in run["libraries"].items()}


if __name__ == "__main__":
    try:
        write()
    except FileNotFoundError as error:
        sys.exit(f"python -m benchmarks.report: {error}")
