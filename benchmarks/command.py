"""The command line of ``python -m benchmarks``."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from benchmarks import processes, releases, results
from benchmarks.cases import CASES, rows, select
from benchmarks.libraries import OURS, PEERS, UPSTREAM, USUAL, Library
from benchmarks.model import Case
from benchmarks.processes import Measured, Result, WorkerFailed, contestants, measure

OURS_ALONE = ("kinds", "growth")
"""Families about our own behaviour: with everybody in them a run would take an hour."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--peers", action="store_true", help="every library, not just the usual")
    parser.add_argument(
        "--library",
        action="append",
        choices=[library.name for library in PEERS if library is not UPSTREAM],
        help="only this one, and marshmallow",
    )
    parser.add_argument("--case", action="append", help="a case's name or a part of it")
    parser.add_argument(
        "--release",
        metavar="VERSION",
        help="on this release of marshmallow, both sides; --save keeps a row of docs/releases.md",
    )
    parser.add_argument("--quick", action="store_true", help="short rounds, coarse figures")
    parser.add_argument("--json", action="store_true", help="machine-readable, on stdout")
    parser.add_argument(
        "--save",
        action="store_true",
        help="keep the results in .bench/results and write docs/performance-tables.md anew",
    )
    parser.add_argument(
        "--upstream-script",
        type=Path,
        metavar="FILE",
        help="run marshmallow's own benchmark script, unchanged, on upstream and on ours",
    )
    options = parser.parse_args(arguments)
    try:
        if options.upstream_script:
            from benchmarks import upstream_script

            return upstream_script.run(options.upstream_script, quick=options.quick)
        return bench(options)
    except (LookupError, OSError, WorkerFailed) as error:
        parser.exit(2, f"{parser.prog}: {error}\n")


def bench(options: argparse.Namespace) -> int:
    libraries: Sequence[Library] = PEERS if options.peers or options.library else USUAL
    if options.library:
        libraries = tuple(x for x in PEERS if x is UPSTREAM or x.name in options.library)
    if options.release:
        libraries = (UPSTREAM, OURS)
        processes.put_first(releases.folder_of(options.release))
        options.case = options.case or list(releases.CASES)
    cases = chosen(options.case, everything=options.peers)
    rounds, seconds = (3, 0.02) if options.quick else (7, 0.1)
    measured: list[Measured] = []
    console = Console(stderr=True)
    with console.status("making environments"), contestants(libraries) as (running, absent):
        for name, reason in absent.items():
            console.print(f"{name} does not take part: {reason}", highlight=False, markup=False)
        if OURS.name in absent:
            return 2
        versions = {c.library.name: c.versions for c in running}
        with Progress(console=console, transient=True) as progress:
            task = progress.add_task("", total=len(cases))
            for case in cases:
                progress.update(task, description=case.name)
                if not console.is_terminal:
                    console.print(f"{case.name}: {case.title}", highlight=False)
                alone = case.family in OURS_ALONE
                taking_part = [c for c in running if not alone or c.library in USUAL]
                able = [c for c in taking_part if (case.like or case.name) in c.cases]
                if len(able) > 1:
                    measured.append(measure(case, able, rounds, seconds))
                progress.advance(task)
    report = results.collect(measured, libraries, versions, absent)
    if not options.case and OURS in libraries:
        with console.status("memory and import time"):
            report |= results.beside(quick=options.quick)
    if options.json:
        print(json.dumps(report, indent=2))
    else:
        out = Console()
        show(out if out.is_terminal else Console(width=160), measured, libraries)
        results.show_beside(out, report)
    if options.save and options.release:
        with console.status("import times"):
            taken = releases.imports(options.release, 5 if options.quick else 15)
        releases.save(options.release, releases.row(report["cases"], taken))
    elif options.save:
        from benchmarks import report as documents

        results.save(report)
        documents.write()
    return (
        1 if any(r.wrong for m in measured for n, r in m.results.items() if n == OURS.name) else 0
    )


def chosen(names: list[str] | None, *, everything: bool) -> list[Case]:
    """The cases asked for by name; else the tables' rows, or everything there is."""
    if names:
        return list({case.name: case for name in names for case in select(name)}.values())
    return list(CASES.values()) if everything else rows()


def show(out: Console, measured: list[Measured], libraries: Sequence[Library]) -> None:
    table = Table(
        title="times as fast as marshmallow (median of rounds), outputs compared first",
        caption="WRONG: the output differs from marshmallow's, so no time is given. "
        "–: no such feature. reach: what the project asks of itself.",
    )
    table.add_column("case", no_wrap=True)
    table.add_column("work")
    table.add_column("µs per object,\nmarshmallow", justify="right")
    others = [library for library in libraries if library is not UPSTREAM]
    for library in others:
        table.add_column(library.label.replace(" ", "\n", 1), justify="right")
    table.add_column("reach", justify="right")
    for one in measured:
        upstream = one.results[UPSTREAM.name].microseconds or 0.0
        goal = one.case.goal
        table.add_row(
            one.case.name,
            one.case.title,
            f"{upstream:.2f}",
            *(cell(one.results.get(library.name), one.case) for library in others),
            f"{goal.reach:g}×" if goal else "",
        )
    out.print(table)
    goals = [one for one in measured if one.case.goal]
    if goals and OURS in libraries:
        reached = sum(_reached(one) for one in goals)
        out.print(f"{reached} of {len(goals)} rows with a goal reach it")
    for one in measured:
        for name, result in one.results.items():
            if reason := result.wrong or result.failed:
                word = "WRONG" if result.wrong else "failed"
                out.print(
                    f"{one.case.name}, {name}: {word}: {reason}", highlight=False, markup=False
                )


def _reached(measured: Measured) -> bool:
    ours, goal = measured.results.get(OURS.name), measured.case.goal
    return bool(ours and ours.ratio and goal and goal.verdict(ours.ratio.median) != "below")


def cell(result: Result | None, case: Case) -> str:
    """A ratio with its spread, or the word that says why there is none."""
    if result is None:
        return "–"
    if result.wrong:
        return "[bold red]WRONG[/]"
    if result.ratio is None:
        return "[red]failed[/]"
    spread = (result.ratio.high - result.ratio.low) / 2
    return f"{result.ratio.median:.1f}× ±{spread:.1f}"
