"""What a start takes, through us and without, in fresh interpreters: the import, schema classes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from benchmarks.timing import Spread, ratios

ROOT = Path(__file__).resolve().parent.parent

PROGRAM = """\
import time
start = time.process_time()
{imports}
print(time.process_time() - start)
"""
WAYS = {
    "upstream": "import marshmallow",
    "althaia": "import althaia; althaia.patch(); import marshmallow",
}


CLASSES = 200
USED = """\
import json, time
{imports}
from marshmallow import Schema, fields

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

def grown(work):
    before, began = resident(), time.process_time()
    work()
    return {{"bytes": resident() - before, "seconds": time.process_time() - began}}

def used(times):
    for number in range({classes}):
        cls = type(f"Used{{times}}Times{{number}}", (Schema,), {{
            "name": fields.Str(), "size": fields.Int(), "price": fields.Float(),
            "at": fields.Date(), "on": fields.Bool(),
        }})
        for _ in range(times):
            cls().load(cls().dump({{"name": "a", "size": 1, "price": 1.5, "on": True}}))
        kept.append(cls)

kept = []
first = grown(lambda: type("First", (Schema,), {{}}))
print(json.dumps([first, *(grown(lambda: used(times)) for times in (4, 40))]))
"""


def classes() -> dict[str, list[dict[str, float]]]:
    """What the first class of a process takes, and those that are used 4 and 40 times, each."""
    if not Path("/proc/self/statm").exists():
        return {}
    found = {}
    for way, imports in WAYS.items():
        first, *others = json.loads(_said(USED.format(imports=imports, classes=CLASSES)))
        each = [{key: value / CLASSES for key, value in one.items()} for one in others]
        found[way] = [first, *each]
    return found


def _said(program: str) -> str:
    """What a program prints that runs in an interpreter of its own."""
    return subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={k: v for k, v in os.environ.items() if not k.startswith("ALTHAIA_")},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def measure(rounds: int) -> dict[str, object]:
    """Milliseconds of processor time either way, and the ratio, the two taking turns."""
    times: dict[str, list[float]] = {way: [] for way in WAYS}
    # The first turn writes byte code and fills the file cache; it is not counted.
    for turn in range(rounds + 1):
        for way, imports in WAYS.items():
            said = _said(PROGRAM.format(imports=imports))
            if turn:
                times[way].append(float(said))
    ratio = ratios(times["upstream"], times["althaia"])
    return {
        **{way: Spread.of(seen).median * 1e3 for way, seen in times.items()},
        "ratio": {"median": ratio.median, "low": ratio.low, "high": ratio.high},
    }


if __name__ == "__main__":
    print(json.dumps([measure(15), classes()], indent=2))
