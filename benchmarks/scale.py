"""What an object costs as the collection grows: ``python -m benchmarks.scale --save``.

Each operation runs in a process of its own, with the GC as Python starts it. Processor time is the
best of some calls, memory the highest resident size of a call above what the process had before.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import importlib
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from benchmarks import sections

SIZES = (1_000, 10_000, 100_000, 1_000_000)
SIDES = {"upstream": "marshmallow", "althaia": "althaia.marshmallow"}
SHAPES = ("flat", "lists", "nested")
OPERATIONS = ("dump", "dumps", "load", "loads")
PAGE = Path(__file__).resolve().parent.parent / "docs" / "performance-tables.md"


def work(side: str, shape: str, operation: str, size: int) -> Callable[[], Any]:
    """A call of one operation on ``size`` objects."""
    ma = importlib.import_module(SIDES[side])
    fields = ma.fields
    members = {
        "a": fields.Integer(),
        "b": fields.String(),
        "c": fields.Boolean(),
        "d": fields.Float(),
    }
    row: dict[str, Any] = {}
    if shape == "lists":
        members["tags"] = fields.List(fields.String())
        row = {"tags": ["x", "y"]}
    elif shape == "nested":
        inner = {"id": fields.Integer(), "name": fields.String()}
        members["author"] = fields.Nested(ma.Schema.from_dict(inner))
        row = {"author": {"id": 1, "name": "k"}}
    schema = ma.Schema.from_dict(members)(many=True)
    rows = [{"a": n, "b": f"n{n}", "c": True, "d": n / 3, **row} for n in range(size)]
    given = json.dumps(rows) if operation == "loads" else rows
    return lambda: getattr(schema, operation)(given)


def measure(call: Callable[[], Any], size: int) -> dict[str, Any]:
    """The microseconds and bytes of an object, and a digest of the result."""
    best = float("inf")
    result = None
    before = _resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # Begins a new VmHWM.
    for _ in range(max(2, min(20, 100_000 // size))):
        del result
        started = time.process_time()
        result = call()
        best = min(best, time.process_time() - started)
    peak = _resident("VmHWM") - before
    text = result if isinstance(result, str) else json.dumps(result)
    digest = hashlib.sha256(text.encode()).hexdigest()
    return {"time": best * 1e6 / size, "memory": peak / size, "digest": digest}


def _resident(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(name)).split()[1]) * 1024


def measured(sizes: Iterable[int]) -> dict[tuple[str, str, int], dict[str, dict[str, Any]]]:
    """What each side takes, by shape, operation and size. Both give the same result."""
    found: dict[tuple[str, str, int], dict[str, dict[str, Any]]] = {}
    for size in sizes:
        for shape in SHAPES:
            for operation in OPERATIONS:
                sides = {}
                for side in SIDES:
                    command = [sys.executable, "-m", __spec__.name, side, shape, operation]
                    told = subprocess.run([*command, str(size)], check=True, capture_output=True)
                    sides[side] = json.loads(told.stdout)
                if sides["upstream"]["digest"] != sides["althaia"]["digest"]:
                    raise RuntimeError(f"{operation} of {size} objects ({shape}): results differ")
                found[shape, operation, size] = sides
                memory = [round(sides[side]["memory"]) for side in SIDES]
                print(f"{size:9,} {shape:7}{operation:6}", _cell(sides), *memory, flush=True)
    return found


def _cell(sides: dict[str, dict[str, Any]]) -> str:
    """The ratio of the times, and the microseconds of both sides."""
    theirs, ours = sides["upstream"]["time"], sides["althaia"]["time"]
    return f"{theirs / ours:.1f}× ({theirs:.1f} / {ours:.2f})"


def save(found: dict[tuple[str, str, int], dict[str, dict[str, Any]]]) -> None:
    """Write the section of the page."""
    sizes = sorted({size for _, _, size in found})
    heads = ["work", *[f"{size:,}" for size in sizes], "bytes an object"]
    lines = ["| " + " | ".join(heads) + " |", "| --- |" + " --: |" * (len(sizes) + 1)]
    for shape in SHAPES:
        for operation in OPERATIONS:
            most = found[shape, operation, sizes[-1]]
            row = [
                f"{shape}, {operation}",
                *[_cell(found[shape, operation, size]) for size in sizes],
                f"{most['upstream']['memory']:.0f} / {most['althaia']['memory']:.0f}",
            ]
            lines.append("| " + " | ".join(row) + " |")
    parts = [
        "## Cost as the collection grows",
        "Four flat fields, one of which is text; with a list of two strings; with a nested object. "
        "Ratio, and µs per object of marshmallow / althaia, by number of objects; the garbage "
        "collector runs. *Bytes an object*: the peak of a call with the most objects.",
        "\n".join(lines),
    ]
    sections.replace(PAGE, "scale", "python -m benchmarks.scale --save", parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--save", action="store_true", help=f"write the section of {PAGE.name}")
    parser.add_argument("--most", type=int, default=SIZES[-1], help="the most objects")
    parser.add_argument("child", nargs="*", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        side, shape, operation, size = given.child
        call = work(side, shape, operation, int(size))
        gc.collect()
        print(json.dumps(measure(call, int(size))))
        return
    found = measured([size for size in SIZES if size <= given.most])
    if given.save:
        save(found)


if __name__ == "__main__":
    main()
