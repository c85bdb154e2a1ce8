"""The results of a run as data: collected, kept, read again by the report."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks import imports
from benchmarks.cases import CASES
from benchmarks.libraries import OURS, PEERS, UPSTREAM, Library
from benchmarks.processes import Contestant, Measured, Result

FOLDER = Path(__file__).resolve().parent.parent / ".bench" / "results"
PEAK_CASE, PEAK_OBJECTS = "quotes-20000", 200_000


def collect(
    measured: Sequence[Measured],
    libraries: Sequence[Library],
    versions: Mapping[str, Mapping[str, str]],
    absent: Mapping[str, str],
) -> dict[str, Any]:
    return {
        "machine": machine(),
        "libraries": {
            library.name: {
                "label": library.label,
                "versions": versions.get(library.name),
                "absent": absent.get(library.name),
            }
            for library in libraries
        },
        "cases": [
            {
                "name": one.case.name,
                "title": one.case.title,
                "family": one.case.family,
                "objects": one.objects,
                "goal": asdict(one.case.goal) if one.case.goal else None,
                "results": {name: _as_json(result) for name, result in one.results.items()},
            }
            for one in measured
        ],
    }


def _as_json(result: Result) -> dict[str, Any]:
    return {
        "wrong": result.wrong,
        # The traceback's last line: the rest names folders of whoever ran this.
        "failed": result.failed.strip().splitlines()[-1] if result.failed else None,
        "us": result.microseconds,
        "ratio": asdict(result.ratio) if result.ratio else None,
    }


def machine() -> dict[str, Any]:
    """What ran this: processor, cores, system, interpreter."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        model = names[0].partition(": ")[2] if names else model
    return {
        "processor": model,
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "compiler": platform.python_compiler(),
    }


def beside(*, quick: bool) -> dict[str, Any]:
    """What is not the time of a call: import time, memory."""
    memory: dict[str, Any] = {}
    for library in (UPSTREAM, OURS):
        # A process of its own each: peaks do not go down again.
        contestant = Contestant(library)
        try:
            memory[library.name] = {
                "instance": contestant.ask("instances"),
                "objects": PEAK_OBJECTS,
                "peak": contestant.ask("memory", case=PEAK_CASE, objects=PEAK_OBJECTS),
            }
        finally:
            contestant.close()
    taken = imports.measure(5 if quick else 21)
    return {"imports": taken, "classes": imports.classes(), "memory": memory}


def show_beside(out: Console, report: Mapping[str, Any]) -> None:
    """Print import time and memory, if the run measured them."""
    if "imports" not in report:
        return
    taken, memory = report["imports"], report["memory"]
    ratio = taken["ratio"]["median"]
    out.print(
        f"import marshmallow: {taken['upstream']:.0f} ms, "
        f"through us {taken['althaia']:.0f} ms: {ratio:.2f}×"
    )
    theirs, ours = memory[UPSTREAM.name], memory[OURS.name]
    out.print(
        f"an instance, used once, keeps {theirs['instance']['bytes']:,.0f} bytes upstream and "
        f"{ours['instance']['bytes']:,.0f} with us; "
        f"{theirs['instance']['cyclic']:.0f} and {ours['instance']['cyclic']:.0f} of its objects "
        "wait for the cyclic collector"
    )
    out.print(
        f"peak of dumping {ours['objects']:,} quotes: "
        f"{theirs['peak']['traced'] / 2**20:,.0f} MiB upstream, "
        f"{ours['peak']['traced'] / 2**20:,.0f} MiB with us"
    )


def save(report: Mapping[str, Any]) -> Path:
    """Keep a run, one file for each minor version of Python.

    What the run did not measure stays as an earlier one left it: ratios are to the marshmallow
    of their own run, so a library need not be measured again because another one changed.
    """
    FOLDER.mkdir(parents=True, exist_ok=True)
    version = ".".join(report["machine"]["python"].split(".")[:2])
    file = FOLDER / f"{version}.json"
    kept = merged(json.loads(file.read_text()), report) if file.exists() else report
    file.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
    return file


def merged(earlier: Mapping[str, Any], later: Mapping[str, Any]) -> dict[str, Any]:
    """``later``, with the cases and libraries that only ``earlier`` has."""
    cases = {case["name"]: case for case in earlier["cases"]}
    for case in later["cases"]:
        before = cases.get(case["name"], {"results": {}})
        cases[case["name"]] = {**case, "results": {**before["results"], **case["results"]}}
    return {
        **earlier,
        **later,
        "libraries": {**earlier["libraries"], **later["libraries"]},
        # In the order of the cases, wherever each was measured.
        "cases": [cases[name] for name in CASES if name in cases],
    }


def saved() -> dict[str, dict[str, Any]]:
    """The kept runs by version of Python, oldest version first."""
    files = sorted(FOLDER.glob("*.json"), key=lambda file: int(file.stem.partition(".")[2]))
    runs = {file.stem: json.loads(file.read_text()) for file in files}
    known = {library.name for library in PEERS}  # An earlier run may have had others.
    for run in runs.values():
        run["libraries"] = {name: one for name, one in run["libraries"].items() if name in known}
        for case in run["cases"]:
            case["results"] = {name: one for name, one in case["results"].items() if name in known}
            # A case may have been named better since.
            case["title"] = CASES[case["name"]].title if case["name"] in CASES else case["title"]
    return runs
