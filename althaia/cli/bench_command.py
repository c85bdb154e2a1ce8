"""Measure a schema of yours: the real marshmallow against the compiled one.

SCHEMA is a schema class, an instance, or a dotted path to one. Each library has a process of its
own; the outputs are compared before anything is timed, and the two take turns.

Measured are the calls dump and load on the objects given by --source or --data. With neither, plain
objects are made up from the schema's fields; yours may take longer to read. A request around these
calls is not in the figures.
"""

import argparse
import statistics
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import astuple
from typing import Any

from althaia.cli import Answer, CommandError
from althaia.cli.sides import Pair, Process, add_data, sentence
from althaia.cli.terminal import bar

ROUNDS = 9
HEADING = "work                  marshmallow, µs per object  althaia   ratio  middle half  output"
FIGURES = ("marshmallow", "althaia", "ratio", "low", "high")

Row = dict[str, Any]
"""One way of calling the schema: ``FIGURES`` are None if the outputs differ, which ``difference``
says; ``deterministic`` is whether marshmallow alone returns the same twice."""


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("schema", metavar="MODULE:SCHEMA", help="e.g. shop.schemas:Order")
    add_data(parser, "--source")
    add("--dump", action="store_true", help="measure dumping only")
    add("--load", action="store_true", help="measure loading only")
    add(
        "--objects",
        type=int,
        default=1_000,
        help="how many to make up, or to ask --source for",
    )
    add("--rounds", type=int, default=ROUNDS, help=f"by default {ROUNDS}")


def execute(options: argparse.Namespace) -> Answer:
    if min(options.rounds, options.objects) < 1:
        raise CommandError("--rounds and --objects are at least 1")
    report = measured(options)
    return any(map(_is_wrong, report["rows"])), report, "\n".join(_lines(report))


def _is_wrong(row: Row) -> bool:
    return row["deterministic"] and not row["identical"]


def measured(options: argparse.Namespace) -> dict[str, Any]:
    """Return the figures of a schema.

    :raises CommandError: it cannot be measured
    """
    both = options.dump == options.load
    directions = [d for d in ("dump", "load") if both or getattr(options, d)]
    schema, rounds = options.schema, options.rounds
    data = {"file": options.data, "source": options.source, "count": options.objects}
    with ExitStack() as stack:
        pair = Pair(stack, schema=schema, use="measure", directions=directions, **data)
        watch = stack.enter_context(bar(1))
        sides = (pair.upstream, pair.planned)
        given = pair.upstream.given
        different, unsteady, _ = pair.judge()
        found = different | unsteady
        rows: list[Row] = []
        for number, name in enumerate(pair.calls):
            watch(number / len(pair.calls), name)
            objects = given["sizes"].get(name, 0)
            difference, steady = found.get(name), name not in unsteady
            if not (objects or difference):
                continue
            row = {
                "work": name,
                "objects": objects,
                "identical": not difference,
                "difference": sentence(*astuple(difference), steady=steady) if difference else "",
                "deterministic": steady,
                **dict.fromkeys(FIGURES),
            }
            if not difference:
                row |= zip(FIGURES, _timed(rounds, sides, name, objects), strict=True)
            rows.append(row)
        explained = pair.planned.ask("explained")
    return {
        "schema": schema,
        "data": given["about"],
        "failing": given["failing"],
        "failure": "".join(given["why"]),
        "made_up": not (options.data or options.source),
        "rows": rows,
        "unplanned": explained["left"] or [why for why in [explained["no_plans"]] if why],
    }


def _timed(rounds: int, sides: Sequence[Process], name: str, objects: int) -> Iterator[float]:
    """Yield the ``FIGURES``; times are microseconds per object."""
    loops = [side.ask("prepare", name=name) for side in sides]
    times: list[list[float]] = [[], []]
    for turn in range(rounds):
        # Take turns at running first: the processor slows down when it gets hot.
        for i in (0, 1) if turn % 2 == 0 else (1, 0):
            seconds = sides[i].ask("time", name=name, loops=loops[i])
            times[i].append(seconds / loops[i] / objects * 1e6)
    ratios = sorted(one / other for one, other in zip(*times, strict=True))
    quarter = len(ratios) // 4
    yield from map(statistics.median, (*times, ratios))
    yield from (ratios[quarter], ratios[-1 - quarter])


def _lines(report: dict[str, Any]) -> Iterator[str]:
    rows = report["rows"]
    yield f"{report['schema']}, data: {report['data']}\n"
    yield HEADING
    yield from map(_line, rows)
    yield "\nOne schema instance, its calls alone: no database, framework or JSON around them."
    if report["failing"]:
        yield f"{report['failing']:,} left out, because alone they fail: {report['failure']}"
        if report["made_up"]:
            yield "Name records that load with --data FILE, or objects with --source MODULE:NAME."
    yield from (f"{row['work']}: {row['difference']}" for row in rows if row["difference"])
    if any(map(_is_wrong, rows)):
        yield "The outputs differ: please report the schema and the data."
    if report["unplanned"]:
        yield "Run by marshmallow's or your own code, not by a plan:"
        yield from (f"  {line}" for line in report["unplanned"])
    else:
        yield "Everything is planned."


def _line(row: Row) -> str:
    if row["difference"]:
        return f"{row['work']:<78}  {'DIFFERENT' if _is_wrong(row) else 'not deterministic'}"
    half = "{low:.1f}–{high:.1f}".format_map(row)
    figures = "{work:<22}{marshmallow:>26.2f}{althaia:>9.2f}{ratio:>7.1f}×".format_map(row)
    return f"{figures}{half:>13}  identical"
