"""Compare a schema's answers on your own data: the real marshmallow's and althaia's.

SCHEMA is a schema class, an instance, or a dotted path to one. Each library has a process of its
own. Every object is dumped, or every record loaded, alone, and then all of them as a collection,
by plans from the first call on.

The first path of each kind of difference is named, with both values. What the real marshmallow
answers differently in a second process is called not deterministic instead.

With --report nothing is compared. It sums up the file in which the workers of a service have
collected their differences, as ALTHAIA_COMPARE_FILE asked them.

Exit codes: 0 no difference, 1 a difference, 2 it could not run.
"""

import argparse
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

from althaia.cli import Answer, CommandError
from althaia.cli.sides import Differences, Pair, add_data, sentence
from althaia.cli.terminal import bar
from althaia.trust.compare import read_file

COUNT = 1_000


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("schema", nargs="?", metavar="MODULE:SCHEMA", help="e.g. shop.schemas:Order")
    add_data(parser, "--objects")
    add("--report", metavar="FILE", help="sum up what workers have found")
    add("--load", action="store_true", help="load the records of --data, instead of dumping them")
    add("--count", type=int, default=COUNT, help=f"how many to ask --objects for, {COUNT:,}")


def execute(options: argparse.Namespace) -> Answer:
    if options.report is not None:
        return _summed_up(options.report)
    if options.schema is None:
        raise CommandError("name a schema, as MODULE:SCHEMA")
    if options.data is None and (options.load or options.objects is None):
        raise CommandError("one of --objects and --data is required, and --data for --load")
    report = compared(options)
    return bool(report["different"]), report, as_text(report)


def _summed_up(file: str) -> Answer:
    try:
        processes, unended, report = read_file(Path(file))
    except (OSError, ValueError) as error:
        raise CommandError(f"{file}: {error}") from None
    text = f"{processes:,} {'process' if processes == 1 else 'processes'}"
    if unended:
        text += f", {unended:,} without an end"
    if not processes:
        text += f" (nothing has written to {file} yet)"
    found = {"processes": processes, "without_end": unended, **report.as_dict()}
    return bool(report.different), found, f"{text}: {report.as_text()}"


def compared(options: argparse.Namespace) -> dict[str, Any]:
    """Return the report: the answers of both libraries, compared.

    :raises CommandError: one of them could not be asked.
    """
    data = {"file": options.data, "source": options.objects, "count": options.count}
    with ExitStack() as stack:
        pair = Pair(stack, schema=options.schema, use="compare", load=options.load, **data)
        explained = pair.planned.ask("explained")
        if explained["no_plans"]:
            raise CommandError(f"there is nothing to compare: {explained['no_plans']}")
        about, others = pair.planned.given["about"], pair.upstream.given["about"]
        if about != others:
            raise CommandError(f"the two processes were given different data: {others} and {about}")
        with bar(len(pair.calls)) as watch:
            different, unsteady, raised = pair.judge(watch)
    failing = [f"{name}: {what}" for name, what in raised.items() if what]
    if len(failing) == len(raised) and not (different or unsteady or options.load):
        raise CommandError(
            f"nothing to compare, because every dump of {about} raised an exception: {failing[0]} "
            "(--objects takes objects or a function that returns some, --load loads records)"
        )
    return {
        "schema": options.schema,
        "data": about,
        "plan": explained["summary"],
        "calls": len(raised),
        "raised": len(failing),
        "first_raised": next(iter(failing), ""),
        "different": len(different),
        "not_deterministic": len(unsteady),
        "differences": _kinds(different),
        "unsteady": _kinds(unsteady),
    }


def _kinds(found: Differences) -> list[dict[str, Any]]:
    """Return one difference of each kind, in the order of the calls, without repetitions."""
    kinds: dict[tuple[str, str], dict[str, Any]] = {}
    for name, each in found.items():
        kind = each.place.removeprefix("[…]").removeprefix(".")
        first = {"call": name, **asdict(each), "times": 0}
        kinds.setdefault((name.partition(" ")[0], kind), first)["times"] += 1
    return list(kinds.values())


def as_text(report: dict[str, Any]) -> str:
    """Return the report for reading."""
    lines = [
        f"{report['schema']}, {report['data']}: {report['calls']:,} calls, "
        f"{report['raised']:,} raised, {report['different']:,} different",
        f"  {report['plan']}",
    ]
    if report["raised"]:
        every = report["raised"] == report["calls"]
        what = "every call raised an exception, so that only these were compared; " if every else ""
        lines.append(f"  {what}the first exception: {report['first_raised']}")
    for steady, kinds in ((True, report["differences"]), (False, report["unsteady"])):
        for each in kinds:
            said = sentence(each["path"], each["planned"], each["upstream"], steady=steady)
            again = f" ({each['times']:,} calls)" if each["times"] > 1 else ""
            lines.append(f"  {each['call']}: {said}{again}")
    return "\n".join(lines)
