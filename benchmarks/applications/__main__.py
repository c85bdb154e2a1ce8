"""The parent's side: data, both processes, the comparison, the tables."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import results, sections
from benchmarks.applications.environments import (
    APPLICATIONS,
    INTERPRETER,
    Application,
    python_for,
)

ROOT = Path(__file__).resolve().parents[2]
WORKER = Path(__file__).with_name("worker.py")
RESULT = Path(__file__).with_name(f"result-{INTERPRETER}.json")
PAGE = ROOT / "docs" / "performance-applications.md"
SCHEMAS = 40
SLOWEST = 5
SIDES = ("plain", "patched")
STARTS = 5
"""Processes of each side whose least time to import the application counts."""
PAID_AFTER = (1, 4, 8)
"""After how many uses the time of all of them is compared."""
LEAST_SHARE = 0.01
"""The profiler cannot tell less than that from nothing."""


class Different(Exception):
    """An answer of ours is not marshmallow's."""


def run(application: Application, way: str, *details: str) -> str:
    """What a worker prints."""
    environment = {
        name: value
        for name, value in os.environ.items()
        # Start-up is measured with the bytecode that an installed application has.
        if not name.startswith("ALTHAIA") and name != "PYTHONDONTWRITEBYTECODE"
    } | {"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0"}
    done = subprocess.run(
        [str(python_for(application)), str(WORKER), way, application.package, *details],
        stdout=subprocess.PIPE,
        env=environment,
        cwd=tempfile.gettempdir(),
        text=True,
        check=True,
    )
    return done.stdout


def measured(application: Application, schemas: int, repeats: int) -> dict[str, Any]:
    """One application's figures, both sides of each."""
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "data")
        run(application, "data", file, str(schemas))
        pairs = [
            [json.loads(run(application, side, file)) for side in SIDES] for _ in range(repeats)
        ]
    for plain, patched in pairs:
        compare(application, plain["rows"], patched["rows"])
    starts = [
        [json.loads(run(application, "start", side)) for side in SIDES] for _ in range(STARTS)
    ]
    return summary(application, pairs, starts)


def compare(application: Application, plain: dict[str, Any], patched: dict[str, Any]) -> None:
    """
    :raises Different: a row is missing, or its answers differ.
    """
    for name in plain.keys() | patched.keys():
        if name not in patched or name not in plain:
            raise Different(f"{application.name}: {name} is on one side only")
        if plain[name]["answer"] != patched[name]["answer"]:
            raise Different(f"{application.name}: {name} has another answer")


def summary(
    application: Application, pairs: list[list[dict[str, Any]]], starts: list[list[float]]
) -> dict[str, Any]:
    """Ratios of the best times of all repeats; above 1 we are faster, or smaller.

    :param starts: seconds of the import, plain and patched, of several pairs of processes.
    """
    plain, patched = pairs[0]
    rows = {}
    for name, row in plain["rows"].items():
        if row["us"] is not None:
            both = [min(pair[side]["rows"][name]["us"] for pair in pairs) for side in (0, 1)]
            rows[name] = round(both[0] / both[1], 2)
    own = {
        name: share_of_ours(
            statistics.median(pair[0]["rows"][name]["own"] for pair in pairs), rows[name]
        )
        for name in rows
    }
    slowest = sorted(rows, key=rows.__getitem__)[:SLOWEST]
    uses = [
        [min(pair[side]["uses_us"][use] for pair in pairs) for use in range(max(PAID_AFTER))]
        for side in (0, 1)
    ]
    return {
        "application": application.name,
        "versions": plain["versions"],
        "classes": plain["classes"],
        "measured": plain["measured"],
        "answers": len(plain["rows"]) * 2,
        "spread": spread(list(rows.values())),
        "own_code": round(statistics.median(own.values()), 2),
        "without_own_code": round(
            statistics.median(without_own_code(rows[name], own[name]) for name in rows), 1
        ),
        "below_1": sum(ratio < 1 for ratio in rows.values()),
        "uses": {n: round(sum(uses[0][:n]) / sum(uses[1][:n]), 2) for n in PAID_AFTER},
        "startup_s": [round(min(pair[side] for pair in starts), 2) for side in (0, 1)],
        "import_mb": [round(side["import_mb"], 1) for side in (plain, patched)],
        "use_mb": [round(side["use_mb"], 1) for side in (plain, patched)],
        "slowest": [
            {
                "row": name,
                "ratio": rows[name],
                "own": own[name],
                "why": patched["why"][name.split(" ")[0]],
            }
            for name in slowest
        ],
        "rows": {name: [rows[name], own[name]] for name in rows},
    }


def share_of_ours(of_marshmallow: float, ratio: float) -> float:
    """The share of our time in the application's own functions, from that of marshmallow's time.

    >>> share_of_ours(0.125, 4.0)
    0.5
    """
    return min(1.0, round(of_marshmallow * ratio, 2))


def without_own_code(ratio: float, own: float) -> float:
    """The ratio of what is left when the time in the application's own functions is subtracted.

    >>> without_own_code(4.0, 0.5)
    7.0
    """
    return (ratio - own) / max(1 - own, LEAST_SHARE)


def spread(ratios: list[float]) -> dict[str, float]:
    """Least, quartiles, median and most."""
    low, middle, high = statistics.quantiles(ratios, n=4, method="inclusive")
    found = {"least": min(ratios), "q1": low, "median": middle, "q3": high, "most": max(ratios)}
    return {name: round(ratio, 2) for name, ratio in found.items()}


def tables(found: list[dict[str, Any]]) -> list[str]:
    """The figures as Markdown."""
    everything = [row for each in found for row in each["rows"].values()]
    lines = [
        "| application | marshmallow | schemas | rows | least | quartiles | median | most "
        "| own code | without it |",
        "| --- | --- | --: | --: | --: | --: | --: | --: | --: | --: |",
    ]
    for each in found:
        s = each["spread"]
        lines.append(
            f"| {each['application']} | {each['versions']['marshmallow']} | {each['measured']} of "
            f"{each['classes']:,} | {len(each['rows'])} | {s['least']:.2f} | {s['q1']:.1f} to "
            f"{s['q3']:.1f} | {s['median']:.1f} | {s['most']:.0f} | {each['own_code']:.0%} | "
            f"{each['without_own_code']:.1f} |"
        )
    s = spread([ratio for ratio, _ in everything])
    shares = statistics.median(own for _, own in everything)
    rest = statistics.median(without_own_code(*row) for row in everything)
    lines.append(
        f"| all | | | {len(everything)} | {s['least']:.2f} | {s['q1']:.1f} to {s['q3']:.1f} "
        f"| {s['median']:.1f} | {s['most']:.0f} | {shares:.0%} | {rest:.1f} |"
    )
    young = [
        "| application | first use | first 4 | first 8 | import, s | import, MB | first 8, MB |",
        "| --- | --: | --: | --: | --: | --: | --: |",
    ]
    for each in found:
        pairs = [f"{each[key][0]} / {each[key][1]}" for key in ("startup_s", "import_mb", "use_mb")]
        cells = (each["application"], *each["uses"].values(), *pairs)
        young.append("| " + " | ".join(map(str, cells)) + " |")
    slow = ["| row | ratio | own code | what `explain` says |", "| --- | --: | --: | --- |"]
    rows = sorted((row for each in found for row in each["slowest"]), key=lambda row: row["ratio"])
    for row in rows[:SLOWEST]:
        why = "; ".join(row["why"]).replace("|", "\\|") or "nothing"
        slow.append(f"| `{row['row']}` | {row['ratio']:.2f} | {row['own']:.0%} | {why} |")
    return ["\n".join(lines), "\n".join(young), "\n".join(slow)]


def shown(found: list[dict[str, Any]]) -> list[str]:
    """The page's sections."""
    machine = results.machine()
    answers = sum(each["answers"] for each in found)
    distribution, young, slow = tables(found)
    return [
        f"## Real applications on CPython {INTERPRETER}",
        f"CPython {machine['python']} on {machine['processor']}, {machine['cores']} cores. "
        "Processor time of marshmallow alone; a row is a schema and a kind of call: `S().dump`, "
        "`S().load`, `S().dumps` of one object, a dump and a load of 30. Each application has the "
        f"release of marshmallow that it asks for. {answers:,} answers were compared and none "
        "differs.",
        distribution,
        f"### The first uses on {INTERPRETER}",
        "A use is one `S().dump` and one `S().load` of every measured schema. Seconds and "
        "megabytes are marshmallow's / ours; the seconds are the least of "
        f"{STARTS} processes.",
        young,
        f"### The slowest rows on {INTERPRETER}",
        slow,
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.applications", description=__doc__)
    parser.add_argument("--only", help="one application's name")
    parser.add_argument("--schemas", type=int, default=SCHEMAS, help="of each application")
    parser.add_argument("--repeats", type=int, default=1, help="pairs of processes")
    parser.add_argument("--save", action="store_true", help="write the page and the result")
    options = parser.parse_args(arguments)
    chosen = [each for each in APPLICATIONS if options.only in (None, each.name)]
    if not chosen:
        parser.error(f"no application is called {options.only!r}")
    if options.only and options.save:
        parser.error("the page has all applications: --save goes without --only")
    found = []
    for application in chosen:
        print(application.name, file=sys.stderr)
        found.append(measured(application, options.schemas, options.repeats))
    parts = shown(found)
    print("\n\n".join(parts))
    if options.save:
        RESULT.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
        sections.replace(PAGE, f"applications-{INTERPRETER}", "make bench-applications", parts)
    return 0


if __name__ == "__main__":
    sys.exit(main())
