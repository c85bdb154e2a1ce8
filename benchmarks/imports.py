"""How long ``import marshmallow`` takes, through us and without, in fresh interpreters."""

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


def measure(rounds: int) -> dict[str, object]:
    """Milliseconds of processor time either way, and the ratio, the two taking turns."""
    times: dict[str, list[float]] = {way: [] for way in WAYS}
    environment = {k: v for k, v in os.environ.items() if not k.startswith("ALTHAIA_")}
    # The first turn writes byte code and fills the file cache; it is not counted.
    for turn in range(rounds + 1):
        for way, imports in WAYS.items():
            done = subprocess.run(
                [sys.executable, "-c", PROGRAM.format(imports=imports)],
                cwd=ROOT,
                env=environment,
                capture_output=True,
                text=True,
                check=True,
            )
            if turn:
                times[way].append(float(done.stdout))
    ratio = ratios(times["upstream"], times["althaia"])
    return {
        **{way: Spread.of(seen).median * 1e3 for way, seen in times.items()},
        "ratio": {"median": ratio.median, "low": ratio.low, "high": ratio.high},
    }


if __name__ == "__main__":
    print(json.dumps(measure(15), indent=2))
