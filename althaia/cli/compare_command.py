"""Compare a schema's answers on your own data: the real marshmallow's and althaia's.

The schema is named as package.module:Schema, where Schema is a schema class, an instance,
or a dotted path to one. Each library has a process of its own. Every object is dumped, or every
record loaded, alone, and then all of them as a collection, by plans from the first call on.

The first path of each kind of difference is named, with both values. What the real marshmallow
answers differently in a second process is called not deterministic instead.

With --report nothing is compared. It sums up the file in which the workers of a service have
collected their differences, as ALTHAIA_COMPARE_FILE asked them.

Exit codes: 0 no difference, 1 a difference, 2 it could not run.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from althaia.trust import compare_file
from althaia.trust.differences import Difference
from althaia.trust.portable import first_difference, is_raised

COUNT = 1_000


class CompareError(Exception):
    """The schema cannot be compared. The message is shown to the user."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "schema", nargs="?", metavar="MODULE:SCHEMA", help="e.g. shop.schemas:Order"
    )
    given = parser.add_mutually_exclusive_group()
    given.add_argument(
        "--objects",
        metavar="MODULE:FACTORY",
        help="objects to dump, or a function that returns them; it may take their number",
    )
    given.add_argument(
        "--data", type=Path, metavar="FILE", help="records, .json, .jsonl or .ndjson"
    )
    parser.add_argument(
        "--report", type=Path, metavar="FILE", help="sum up what workers have found"
    )
    parser.add_argument(
        "--load", action="store_true", help="load the records of --data, instead of dumping them"
    )
    parser.add_argument(
        "--count", type=int, default=COUNT, help=f"how many to ask --objects for, {COUNT:,}"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def execute(options: argparse.Namespace) -> int:
    try:
        if options.report is not None:
            return _summed_up(options)
        if options.schema is None:
            raise CompareError("name a schema, as MODULE:SCHEMA")
        if options.objects is None and options.data is None:
            raise CompareError("one of --objects and --data is required")
        if options.load and options.data is None:
            raise CompareError("--load needs --data: what is loaded are records")
        report = compared(options)
    except CompareError as error:
        print(f"python -m althaia compare: {error}", file=sys.stderr)
        return 2
    if options.json:
        print(json.dumps(report, indent=2))
    else:
        print(as_text(report))
    return 1 if report["different"] else 0


def _summed_up(options: argparse.Namespace) -> int:
    try:
        workers, report = compare_file.read(options.report)
    except (OSError, ValueError) as error:
        raise CompareError(f"{options.report}: {error}") from None
    processes = f"{workers:,} {'process' if workers == 1 else 'processes'}"
    text = f"{processes}: {report.as_text()}"
    print(json.dumps(report.as_dict(), indent=2) if options.json else text)
    return 1 if report.different else 0


def compared(options: argparse.Namespace) -> dict[str, Any]:
    """Return the report: the answers of both libraries, compared.

    :raises CompareError: one of them could not be asked.
    """
    task = {
        "schema": options.schema,
        "objects": options.objects,
        "data": str(options.data.resolve()) if options.data else None,
        "load": options.load,
        "count": options.count,
    }
    planned, upstream = (_answers(task, patched) for patched in (True, False))
    found = _differing(planned["calls"], upstream["calls"])
    # Ask marshmallow again only if there are differences: it takes as long as the first time.
    unsteady: dict[int, Difference] = {}
    if found or len(planned["calls"]) != len(upstream["calls"]):
        unsteady = _differing(upstream["calls"], _answers(task, False)["calls"])
    different = {index: each for index, each in found.items() if index not in unsteady}
    calls = [name for name, _ in planned["calls"]]
    if len(planned["calls"]) != len(upstream["calls"]) and not unsteady:
        raise CompareError(
            f"the two processes were given different data: {upstream['about']} and "
            f"{planned['about']}"
        )
    return {
        "schema": options.schema,
        "data": planned["about"],
        "plan": planned["plan"],
        "calls": len(calls),
        "raised": sum(is_raised(answer) for _, answer in planned["calls"]),
        "different": len(different),
        "not_deterministic": len(unsteady),
        "differences": _kinds(calls, different),
        "unsteady": _kinds(calls, unsteady),
    }


def _differing(ours: list[Any], theirs: list[Any]) -> dict[int, Difference]:
    """Return the first difference of each call, by the call's number."""
    pairs = enumerate(zip(ours, theirs, strict=False))
    found = {index: first_difference(one[1], other[1]) for index, (one, other) in pairs}
    return {index: each for index, each in found.items() if each is not None}


def _kinds(calls: list[str], found: dict[int, Difference]) -> list[dict[str, Any]]:
    """Return one difference of each kind, in the order of the calls, without repetitions."""
    kinds: dict[tuple[str, str], dict[str, Any]] = {}
    for index, each in found.items():
        name = calls[index]
        collection = not name.endswith("]")
        kind = each.kind.removeprefix("[…]").removeprefix(".") if collection else each.kind
        key = (name.partition(" ")[0], kind)
        known = kinds.setdefault(
            key,
            {
                "call": name,
                "path": each.path,
                "planned": each.planned,
                "upstream": each.upstream,
                "times": 0,
            },
        )
        known["times"] += 1
    return list(kinds.values())


def _answers(task: dict[str, Any], patched: bool) -> dict[str, Any]:
    """Return the answers of one library, from a process of its own."""
    ours = ("PATCH", "DISABLE", "COMPARE", "STRICT", "NOTES")
    dropped = {f"ALTHAIA_{name}" for name in ours}
    environment = {k: v for k, v in os.environ.items() if k not in dropped}
    # Both processes must iterate over sets in the same order.
    environment["PYTHONHASHSEED"] = "0"
    if not patched:
        # The schema's own module may call patch().
        environment["ALTHAIA_DISABLE"] = "1"
    with tempfile.TemporaryDirectory() as scratch:
        output = Path(scratch, "answers.json")
        subprocess.run(
            [sys.executable, "-m", "althaia.cli.comparework", str(output)],
            input=json.dumps(task | {"patched": patched}),
            text=True,
            env=environment,
            # The schema's module may print; standard output is for the report only.
            stdout=sys.stderr,
            check=False,
        )
        text = output.read_text("utf-8") if output.exists() else '{"failed": "its process ended"}'
    answers: dict[str, Any] = json.loads(text)
    if "failed" in answers:
        raise CompareError(
            f"with {'althaia' if patched else 'marshmallow'}: {answers['failed']}".rstrip()
        )
    return answers


def as_text(report: dict[str, Any]) -> str:
    """Return the report for reading."""
    lines = [
        f"{report['schema']}, {report['data']}: {report['calls']:,} calls, "
        f"{report['raised']:,} raised, {report['different']:,} different",
        f"  {report['plan']}",
    ]
    if report["calls"] and report["raised"] == report["calls"]:
        lines.append(
            "  every call raised an exception, so that only exceptions were compared: --objects "
            "takes a list of objects or a function that returns one, --data with --load takes input"
        )
    for each in report["differences"]:
        lines.append(
            f"  {each['call']}: {each['path'] or 'the result itself'}: {each['planned']} by "
            f"althaia, {each['upstream']} by marshmallow{_again(each)}"
        )
    for each in report["unsteady"]:
        lines.append(
            f"  {each['call']}: {each['path'] or 'the result itself'}: not deterministic, "
            f"marshmallow gave {each['planned']} and then {each['upstream']}{_again(each)}"
        )
    return "\n".join(lines)


def _again(each: dict[str, Any]) -> str:
    return f" ({each['times']:,} calls)" if each["times"] > 1 else ""
