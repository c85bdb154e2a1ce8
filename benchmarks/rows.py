"""``python -m benchmarks.rows``: where every row of the speed tables stands, in one process.

Upstream and ours are imported side by side and take turns, so this needs no further
environments and is quick; ``python -m benchmarks`` is the full comparison.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks import timing
from benchmarks.cases import rows, select
from benchmarks.equality import difference
from benchmarks.model import Case, Work

UPSTREAM = "marshmallow"
OURS = "althaia.marshmallow"
STYLES = {"below": "red", "reached": "yellow", "aim": "green", "": ""}


@dataclass(frozen=True, slots=True)
class Row:
    """One measured case: microseconds per object on both sides, and their ratio."""

    case: Case
    wrong: str | None
    upstream: float
    ours: float
    ratio: timing.Spread | None

    def as_json(self) -> dict[str, Any]:
        return {
            "case": self.case.name,
            "title": self.case.title,
            "goal": asdict(self.case.goal) if self.case.goal else None,
            "wrong": self.wrong,
            "upstream_us": self.upstream,
            "ours_us": self.ours,
            "ratio": asdict(self.ratio) if self.ratio else None,
        }


def both(case: Case, objects: int | None = None) -> tuple[Work, Work]:
    """The work of ``case`` on upstream and on ours."""
    return case.work(namespace(UPSTREAM), objects), case.work(namespace(OURS), objects)


def namespace(name: str) -> Any:
    """The marshmallow module ``name`` with the submodules the cases use."""
    for part in ("fields", "validate"):
        importlib.import_module(f"{name}.{part}")
    return importlib.import_module(name)


def measure(case: Case, rounds: int, seconds: float) -> Row:
    """Compare the outputs, and where they agree, time both sides in turns."""
    upstream, ours = both(case)
    wrong = difference(upstream(), ours())
    if wrong is not None:
        return Row(case, wrong, 0.0, 0.0, None)
    times = timing.interleave({UPSTREAM: upstream, OURS: ours}, rounds, seconds, case.collector)
    each = 1e6 / case.objects
    return Row(
        case,
        None,
        timing.Spread.of(times[UPSTREAM]).median * each,
        timing.Spread.of(times[OURS]).median * each,
        timing.ratios(times[UPSTREAM], times[OURS]),
    )


def table_of(measured: list[Row]) -> Table:
    table = Table(title="ratio to upstream, outputs equal; µs are per object")
    table.add_column("case", no_wrap=True)
    table.add_column("work")
    for heading in ("upstream", "ours", "ratio", "spread", "reach", "aim"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("")
    for row in measured:
        goal = row.case.goal
        goals = (f"{goal.reach:g}×", f"{goal.aim:g}×" if goal.aim else "–") if goal else ("", "")
        if row.ratio is None:
            table.add_row(
                row.case.name, row.wrong, "", "", "WRONG", "", *goals, "", style="bold red"
            )
            continue
        verdict = goal.verdict(row.ratio.median) if goal else ""
        table.add_row(
            row.case.name,
            row.case.title,
            f"{row.upstream:.2f}",
            f"{row.ours:.2f}",
            f"{row.ratio.median:.1f}×",
            f"{row.ratio.low:.1f}–{row.ratio.high:.1f}",
            *goals,
            verdict,
            style=STYLES[verdict],
        )
    return table


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rows", description=__doc__)
    parser.add_argument("--case", action="append", help="a case's name or a part of it")
    parser.add_argument("--quick", action="store_true", help="a few seconds, coarse figures")
    parser.add_argument("--json", action="store_true", help="machine-readable, on stdout")
    options = parser.parse_args(arguments)
    try:
        chosen = [c for name in options.case or [] for c in select(name)] or rows()
    except LookupError as error:
        parser.error(str(error))
    rounds, seconds = (3, 0.02) if options.quick else (9, 0.1)
    measured = []
    with Console(stderr=True).status("") as status:
        for case in chosen:
            status.update(f"{case.name}: {case.title}")
            measured.append(measure(case, rounds, seconds))
    if options.json:
        print(json.dumps([row.as_json() for row in measured], indent=2))
    else:
        out = Console()
        # A pipe has no width of its own, and a narrow table cannot be read or searched.
        (out if out.is_terminal else Console(width=150)).print(table_of(measured))
    return 1 if any(row.wrong for row in measured) else 0


if __name__ == "__main__":
    sys.exit(main())
