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
import os
import platform
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import althaia
from althaia.cli import Answer, CommandError
from althaia.cli.sides import SIDES, Judged, Process, judge, sentence
from althaia.cli.terminal import bar, table

ROUNDS = 9


@dataclass(frozen=True, slots=True)
class Row:
    """One way of calling the schema; times are microseconds per object."""

    work: str
    objects: int
    identical: bool = True
    invalid: str = ""
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


def execute(options: argparse.Namespace) -> Answer:
    both = options.dump == options.load
    directions = [d for d in ("dump", "load") if both or getattr(options, d)]
    if options.data and options.source:
        raise CommandError("give --data or --source, not both")
    report = _measure(options, directions)
    data = {**report, "rows": [asdict(row) for row in report["rows"]]}
    return int(any(map(_is_wrong, report["rows"]))), data, "\n".join(_lines(report))


def _is_wrong(row: Row) -> bool:
    return not row.identical and row.deterministic


def _measure(options: argparse.Namespace, directions: list[str]) -> dict[str, Any]:
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        file = str(options.data.resolve()) if options.data else None

        def start(name: str) -> tuple[Process, dict[str, Any]]:
            side = stack.enter_context(Process(name, options.schema))
            answer = side.ask("data", file=file, source=options.source, count=options.objects)
            return side, answer

        sides, given = zip(*map(start, SIDES), strict=True)
        count = min(each["count"] for each in given)
        no_dump = next((each["no_dump"] for each in given if each["no_dump"]), "")
        if no_dump and directions == ["dump"]:
            raise CommandError(no_dump)
        directions = [d for d in directions if d == "load" or not no_dump]
        calls = [
            (f"{direction} {objects:,} {noun}", direction, objects, noun == "objects")
            for direction in directions
            for objects, noun in ((1, "object"), (count, "objects"))[: 2 if count > 1 else 1]
        ]
        waiting = dict(zip(SIDES, sides, strict=True))

        def ask(name: str, output: Path) -> dict[str, Any]:
            side = waiting.pop(name, None) or start(name)[0]
            work = [(name, direction, many) for name, direction, _, many in calls]
            return side.ask("rows", work=work, output=str(output))

        judged = judge(ask, scratch)
        rows: list[Row] = []
        with bar(len(calls)) as watch:
            for number, (work, direction, objects, many) in enumerate(calls, 1):
                watch(len(rows), work)
                row = _differing(judged, number, Row(work, objects))
                rows.append(row or _timed(options.rounds, sides, direction, many, work, objects))
        if row := _differing(judged, 0, Row("what fails", 1)):
            rows.append(row)
        unplanned = sides[1].ask("unplanned", directions=directions)
    return {
        "schema": options.schema,
        "data": given[0]["about"],
        "versions": _versions(),
        "machine": _machine(),
        "failing": given[0]["failing"],
        "failure": given[0]["why"],
        "not_measured": no_dump,
        "made_up": not (options.data or options.source),
        "rows": rows,
        **unplanned,
    }


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


def _differing(judged: Judged, number: int, row: Row) -> Row | None:
    """Return the row of a call whose answers differ; None if they are identical."""
    steady = number not in judged.unsteady
    found = (judged.different if steady else judged.unsteady).get(number)
    if found is None:
        return None
    said = sentence(found.difference, steady=steady)
    return replace(row, identical=False, difference=said, deterministic=steady)


def _timed(
    rounds: int, sides: Sequence[Process], direction: str, many: bool, work: str, objects: int
) -> Row:
    """Return the row with the times of both libraries."""
    prepared = [side.ask("prepare", direction=direction, many=many) for side in sides]
    times: list[list[float]] = [[], []]
    for turn in range(rounds):
        # Take turns at running first: the processor slows down when it gets hot.
        for i in (0, 1) if turn % 2 == 0 else (1, 0):
            loops = prepared[i]["loops"]
            times[i].append(sides[i].ask("time", loops=loops)["seconds"] / loops / objects * 1e6)
    ratios = sorted(one / other for one, other in zip(*times, strict=True))
    quarter = len(ratios) // 4
    theirs, ours, ratio = map(statistics.median, (*times, ratios))
    return Row(
        work,
        objects,
        invalid=prepared[1]["invalid"],
        marshmallow=theirs,
        althaia=ours,
        ratio=ratio,
        low=ratios[quarter],
        high=ratios[-1 - quarter],
    )


def _lines(report: dict[str, Any]) -> Iterator[str]:
    rows: list[Row] = report["rows"]
    yield f"{report['schema']}, data: {report['data']}\n"
    heading = ["work", "marshmallow, µs per object", "althaia", "ratio", "middle half", "output"]
    yield table([heading, *map(_cells, rows)])
    yield "\nOne schema instance, its calls alone: no database, framework or JSON around them."
    if report["not_measured"]:
        yield f"dump: {report['not_measured']}"
    invalid = [row for row in rows if row.invalid]
    for row in invalid:
        yield f"{row.work}: the data does not load, so that errors were measured: {row.invalid}"
    if invalid and report["made_up"]:
        yield "Name records that load with --data FILE, or objects with --source MODULE:NAME."
    if report["failing"]:
        why = report["failure"]
        yield f"{report['failing']:,} left out, because alone they fail already: {why}"
    yield from (f"{row.work}: {row.difference}" for row in rows if row.difference)
    if any(map(_is_wrong, rows)):
        yield "The outputs differ: please report the schema and the data."
    if report["unplanned"]:
        yield "Run by marshmallow's or your own code, not by a plan:"
        yield from (f"  {line}" for line in report["unplanned"])
    else:
        yield "Everything is planned."


def _cells(row: Row) -> list[str]:
    if row.ratio is None:
        return [row.work, "", "", "", "", "DIFFERENT" if _is_wrong(row) else "not deterministic"]
    return [
        row.work,
        f"{row.marshmallow:.2f}",
        f"{row.althaia:.2f}",
        f"{row.ratio:.1f}×",
        f"{row.low:.1f}–{row.high:.1f}",
        "identical errors" if row.invalid else "identical",
    ]
