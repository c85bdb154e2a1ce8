"""Measure a schema of yours: the real marshmallow against the compiled one.

The schema is named as package.module:Schema, where Schema is a schema class, an instance,
or a dotted path to one. Each library has a process of its own; the outputs are compared
before anything is timed, and the two take turns.

What is measured is the calls dump and load of one schema on the objects given: --source names
your own objects, or a function that makes them (of an ORM, say), --data a file of records. With
neither, plain objects are made up from the schema's fields; yours may take longer to read. A
request around these calls, a database or a framework, is not in the figures.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import althaia
from althaia.cli.application import steps
from althaia.trust.portable import first_difference

ROUNDS = 9
SIDES = ("marshmallow", "althaia")


class BenchError(Exception):
    """The schema cannot be measured. The message is shown to the user."""


@dataclass(frozen=True, slots=True)
class Row:
    """One way of calling the schema; times are microseconds per object."""

    work: str
    objects: int
    identical: bool
    invalid: str
    difference: str = ""
    """The first path that differs, with both values."""
    deterministic: bool = True
    """Whether marshmallow alone returns the same twice; asked if the outputs differ."""
    marshmallow: float | None = None
    althaia: float | None = None
    ratio: float | None = None
    low: float | None = None
    high: float | None = None


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("schema", metavar="MODULE:SCHEMA", help="e.g. shop.schemas:Order")
    parser.add_argument(
        "--data", type=Path, metavar="FILE", help="records, .json, .jsonl or .ndjson"
    )
    parser.add_argument(
        "--source",
        metavar="MODULE:NAME",
        help="objects to dump, or a function that returns them; it may take their number",
    )
    parser.add_argument("--dump", action="store_true", help="measure dumping only")
    parser.add_argument("--load", action="store_true", help="measure loading only")
    parser.add_argument(
        "--objects",
        type=_positive,
        default=1_000,
        help="how many to make up, or to ask --source for",
    )
    parser.add_argument("--rounds", type=_positive, default=ROUNDS, help=f"by default {ROUNDS}")
    parser.add_argument("--json", action="store_true", help="print JSON")


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not at least 1")
    return number


def execute(options: argparse.Namespace) -> int:
    try:
        from rich.console import Console
        from rich.progress import Progress
    except ModuleNotFoundError:
        print("python -m althaia bench needs rich: pip install 'althaia[cli]'", file=sys.stderr)
        return 2
    both = options.dump == options.load
    directions = [d for d in ("dump", "load") if both or getattr(options, d)]
    if options.data and options.source:
        print("python -m althaia bench: give --data or --source, not both", file=sys.stderr)
        return 2
    try:
        console = Console(stderr=True)
        with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
            report = _measure(options, directions, progress)
    except BenchError as error:
        print(f"python -m althaia bench: {error}", file=sys.stderr)
        return 2
    if options.json:
        print(json.dumps({**report, "rows": [asdict(row) for row in report["rows"]]}, indent=2))
    else:
        _show(report, Console())
    return 1 if any(map(_is_wrong, report["rows"])) else 0


def _is_wrong(row: Row) -> bool:
    return not row.identical and row.deterministic


class _Process:
    """One side's process and its answers."""

    def __init__(self, side: str) -> None:
        environment = {
            name: value
            for name, value in os.environ.items()
            if name not in ("ALTHAIA_PATCH", "ALTHAIA_DISABLE")
        }
        if side == "marshmallow":
            # The schema's own module may call patch().
            environment["ALTHAIA_DISABLE"] = "1"
        self.side = side
        self._process = subprocess.Popen(
            [sys.executable, "-m", "althaia.cli.benchwork"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment | {"PYTHONHASHSEED": "0"},
        )

    def ask(self, do: str, **details: Any) -> dict[str, Any]:
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            raise BenchError(f"{self.side}: no way to talk to its process")
        try:
            stdin.write(json.dumps({"do": do, **details}) + "\n")
            stdin.flush()
            line = stdout.readline()
        except BrokenPipeError:
            line = ""
        answer: dict[str, Any] = json.loads(line or '{"failed": "its process ended"}')
        if "failed" in answer:
            raise BenchError(f"with {self.side}: {answer['failed']}")
        return answer

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


def _measure(options: argparse.Namespace, directions: list[str], progress: Any) -> dict[str, Any]:
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        file = str(options.data.resolve()) if options.data else None

        def start(name: str) -> tuple[_Process, dict[str, Any]]:
            side = _Process(name)
            stack.callback(side.close)
            side.ask("start", schema=options.schema, patched=name == "althaia")
            answer = side.ask("data", file=file, source=options.source, count=options.objects)
            return side, answer

        def another() -> _Process:
            return start(SIDES[0])[0]

        sides, given = zip(*map(start, SIDES), strict=True)
        count = min(each["count"] for each in given)
        no_dump = next((each["no_dump"] for each in given if each["no_dump"]), "")
        if no_dump and directions == ["dump"]:
            raise BenchError(no_dump)
        directions = [d for d in directions if d == "load" or not no_dump]
        sizes = (False, True) if count > 1 else (False,)
        work = [(direction, many) for direction in directions for many in sizes]
        rounds = options.rounds
        task = progress.add_task("", total=len(work) * rounds)
        advance = partial(progress.advance, task)
        rows = []
        for direction, many in work:
            objects = count if many else 1
            progress.update(task, description=f"{direction} {objects:,}")
            rows.append(_row(direction, many, objects, sides, another, scratch, rounds, advance))
        if given[0]["failing"] != given[1]["failing"]:
            rows.append(_row_of_failing(*given))
        explained = sides[1].ask("explain")
    failing = given[0]["failing"]
    return {
        "schema": options.schema,
        "data": given[0]["about"],
        "versions": _versions(),
        "machine": _machine(),
        "failing": len(failing),
        "failure": given[0]["why"] if failing else "",
        "not_measured": no_dump,
        "rows": rows,
        "unplanned": _unplanned(explained, directions),
    }


def _unplanned(explained: dict[str, Any], directions: list[str]) -> list[str]:
    if "no_plans" in explained:
        return [explained["no_plans"]]
    return [
        f"{direction} {path}: {why}"
        for direction, path, why in steps(explained)
        if why and direction in directions
    ]


def _versions() -> dict[str, str]:
    info = althaia.info()
    return {
        "althaia": info.version,
        "marshmallow": info.real_version or info.served.version,
        "python": info.python,
    }


def _machine() -> dict[str, Any]:
    """Return what the times depend on."""
    return {
        "system": platform.platform(),
        "processor": platform.processor() or platform.machine(),
        "processors": os.cpu_count(),
    }


def _row_of_failing(theirs: dict[str, Any], ours: dict[str, Any]) -> Row:
    """Return the difference if one library raises for an object or record, the other not."""
    first = min(set(theirs["failing"]) ^ set(ours["failing"]))
    side, why = (
        ("marshmallow", theirs["why"]) if first in theirs["failing"] else ("althaia", ours["why"])
    )
    return Row("what fails", 1, False, "", f"differs at [{first}]: only {side} raises: {why}")


DIFFERENT = "differs at {path}: {second} by althaia, {first} by marshmallow"
CHANGING = "is not deterministic at {path}: marshmallow gave {first} and then {second}"


def _difference(words: str, first: bytes, second: bytes) -> str:
    """Return where the second output differs from the first, in these words; "" if nowhere."""
    found = first_difference(json.loads(second), json.loads(first))
    if found is None:
        return ""
    return words.format(
        path=found.path or "the result itself", first=found.upstream, second=found.planned
    )


def _row(
    direction: str,
    many: bool,
    objects: int,
    sides: Sequence[_Process],
    another: Callable[[], _Process],
    scratch: Path,
    rounds: int,
    advance: Callable[..., None],
) -> Row:
    outputs, loops, invalid = [], [], ""
    for side in sides:
        output = scratch / side.side
        prepared = side.ask("prepare", direction=direction, many=many, output=str(output))
        outputs.append(output.read_bytes())
        loops.append(prepared["loops"])
        invalid = prepared["invalid"]
    work = f"{direction} {objects:,} {'objects' if many else 'object'}"
    if outputs[0] != outputs[1]:
        advance(rounds)
        # Neither a clock nor the order of a set of objects may be blamed on althaia.
        again = scratch / "again"
        for side in (sides[0], another()):
            side.ask("prepare", direction=direction, many=many, output=str(again))
            if change := _difference(CHANGING, outputs[0], again.read_bytes()):
                return Row(work, objects, False, invalid, change, deterministic=False)
        return Row(work, objects, False, invalid, _difference(DIFFERENT, *outputs))
    times: list[list[float]] = [[], []]
    for turn in range(rounds):
        # Take turns at running first: the processor slows down when it gets hot.
        for i in (0, 1) if turn % 2 == 0 else (1, 0):
            seconds = sides[i].ask("time", loops=loops[i])["seconds"]
            times[i].append(seconds / loops[i] / objects * 1e6)
        advance()
    ratios = sorted(one / other for one, other in zip(*times, strict=True))
    quarter = len(ratios) // 4
    theirs, ours, ratio = map(statistics.median, (*times, ratios))
    low, high = ratios[quarter], ratios[-1 - quarter]
    return Row(work, objects, True, invalid, "", True, theirs, ours, ratio, low, high)


def _show(report: dict[str, Any], console: Any) -> None:
    from rich.table import Table

    table = Table(title=f"{report['schema']}, data: {report['data']}")
    table.add_column("work")
    for heading in ("marshmallow, µs per object", "althaia", "ratio", "middle half", "output"):
        table.add_column(heading, justify="right")
    for row in report["rows"]:
        if row.ratio is None:
            output, style = (
                ("DIFFERENT", "bold red") if _is_wrong(row) else ("not deterministic", "yellow")
            )
            table.add_row(row.work, "", "", "", "", output, style=style)
            continue
        table.add_row(
            row.work,
            f"{row.marshmallow:.2f}",
            f"{row.althaia:.2f}",
            f"{row.ratio:.1f}×",
            f"{row.low:.1f}–{row.high:.1f}",
            "identical",
        )
    console.print(table)
    console.print(
        "One schema instance, its calls alone: no database, framework or JSON around them.",
        highlight=False,
    )
    if report["not_measured"]:
        console.print(f"dump: {report['not_measured']}", markup=False)
    for row in report["rows"]:
        if row.invalid:
            console.print(f"{row.work}: the data does not load: {row.invalid}", markup=False)
    if report["failing"]:
        console.print(
            f"{report['failing']:,} left out, because alone they fail already: {report['failure']}",
            markup=False,
        )
    for row in report["rows"]:
        if row.difference:
            console.print(f"{row.work} {row.difference}", markup=False, highlight=False)
    if any(map(_is_wrong, report["rows"])):
        console.print("The outputs differ: please report the schema and the data.")
    if report["unplanned"]:
        console.print("Run by marshmallow's or your own code, not by a plan:")
        for line in report["unplanned"]:
            console.print(f"  {line}", markup=False, highlight=False)
    else:
        console.print("Everything is planned.")
