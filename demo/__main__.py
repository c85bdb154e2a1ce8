"""``python -m demo``: the table. Exits with 1 where an output differs, 2 where it cannot run."""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from buildtools.pipeline import is_pure
from demo import data
from demo.measure import Case, DemoError, Result, measure, steps, workers

CASES = (
    Case("characters", "all ORM objects, nested", 1),
    Case("page", "page of a list endpoint", 100),
    Case("text", "list as JSON text", 5),
    Case("valid", "load orders", 2),
    Case("errors", "the same with errors", 2),
    Case("instance", "QuoteSchema().dump(quote)", 1000),
)


def run(rounds: int, limit: int, console: Console) -> list[Result]:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    points = data.code_points()[: limit or None]
    with (
        tempfile.TemporaryDirectory() as folder,
        Progress(*columns, console=console, transient=True) as bar,
    ):
        database = Path(folder) / "characters.sqlite"
        writing = bar.add_task("Writing characters to SQLite", total=len(points))
        data.build(database, points, lambda count: bar.advance(writing, count))
        results = []
        with workers(database, limit) as (upstream, patched):
            for case in CASES:
                task = bar.add_task(case.title, total=steps(rounds))
                results.append(measure(case, upstream, patched, rounds, partial(bar.advance, task)))
        return results


def table(results: Sequence[Result], rounds: int) -> Table:
    shown = Table(
        title=f"One call, best of {rounds} rounds each, "
        f"{platform.python_implementation()} {platform.python_version()}"
    )
    shown.add_column("what", no_wrap=True)
    for heading in ("objects", "before, ms", "after, ms", "ratio"):
        shown.add_column(heading, justify="right", no_wrap=True)
    shown.add_column("same", no_wrap=True)
    for result in results:
        shown.add_row(
            result.case.title,
            f"{result.rows:,}",
            f"{result.upstream * 1000:,.3f}",
            f"{result.patched * 1000:,.3f}",
            f"{result.ratio:.1f}×",
            "[bold red]NO" if result.difference else "[green]yes",
        )
    return shown


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m demo", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="measurements of each (default 3)")
    parser.add_argument("--limit", type=int, default=0, help="use only the first N characters")
    options = parser.parse_args(argv)
    console = Console()
    try:
        results = run(options.rounds, options.limit, console)
    except DemoError as error:
        print(f"demo: {error}", file=sys.stderr)
        return 2
    console.print(table(results, options.rounds))
    different = [result for result in results if result.difference]
    for result in different:
        print(f"{result.case.title}: the outputs differ in {result.difference}", file=sys.stderr)
    if is_pure(os.environ):
        console.print("A pure build: the same answers, and no gain.")
    root = Path(__file__).parents[1]
    print("Next, your own schema, in the environment of your application:")
    print(f"  pip install '{root}[cli]'")
    print("  python -m althaia bench package.module:Schema")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
