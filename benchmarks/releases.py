"""``python -m benchmarks --release X``: the same work on another release of marshmallow.

Both sides get the release from a folder that comes first on their path; the environments stay as
they are. ``--save`` keeps the figures in ``benchmarks/releases.json``, from which
``python -m buildtools semantics page`` makes the tables of ``docs/releases.md``.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from benchmarks.environments import ROOT, EnvironmentFailed
from benchmarks.imports import PROGRAM, WAYS
from benchmarks.results import machine

RESULT = ROOT / "benchmarks" / "releases.json"

CASES = {
    "quotes-1000": "dump 1,000",
    "load-quotes-1000": "load 1,000",
    "dumps-flat": "dumps 10,000",
    "loads-flat": "loads 10,000",
    "small": "dump one",
    "load-small": "load one",
    "new-dump": "S().dump",
    "new-load": "S().load",
}
"""The rows of a release, with the heads of their columns."""


def folder_of(release: str) -> Path:
    """A folder with a release of marshmallow, made once.

    :raises EnvironmentFailed: pip could not install it.
    """
    folder = ROOT / ".bench" / f"marshmallow-{release}"
    if not (folder / "marshmallow").is_dir():
        done = subprocess.run(
            [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet",
             "--no-deps", "--target", str(folder), f"marshmallow=={release}"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            raise EnvironmentFailed(f"marshmallow {release}: {done.stderr.strip()[-500:]}")
    return folder


def imports(release: str, rounds: int) -> dict[str, float]:
    """Milliseconds of processor time of an import: the real one, ours with a warm cache of
    patched modules, and ours without any cache; medians, all three taking turns."""
    times: dict[str, list[float]] = {"real": [], "cached": [], "uncached": []}
    with tempfile.TemporaryDirectory() as cache:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("ALTHAIA_", "PYTHON"))}
        environment = kept | {
            "PYTHONPATH": str(folder_of(release)),
            "PYTHONPYCACHEPREFIX": cache,
            "XDG_CACHE_HOME": cache,
        }
        # The first turn writes byte code and fills the file cache; it is not counted.
        for turn in range(rounds + 1):
            for way, seen in times.items():
                if way == "uncached":
                    for file in Path(cache).rglob("*.althaia.pyc"):
                        file.unlink()
                program = PROGRAM.format(imports=WAYS["upstream" if way == "real" else "althaia"])
                done = subprocess.run(
                    [sys.executable, "-c", program],
                    cwd=ROOT, env=environment, capture_output=True, text=True, check=True,
                )  # fmt: skip
                if turn:
                    seen.append(float(done.stdout) * 1e3)
    return {way: round(statistics.median(seen), 1) for way, seen in times.items()}


def row(cases: Sequence[Mapping[str, Any]], taken: Mapping[str, float]) -> dict[str, Any]:
    """A release's figures: times as fast as the same release unpatched, and its imports.

    :param cases: as :func:`benchmarks.results.collect` gives them
    """
    ratios = {}
    for case in cases:
        ours = case["results"].get("althaia", {})
        if ours.get("ratio"):
            ratios[case["name"]] = round(ours["ratio"]["median"], 1)
    return {"ratios": ratios, "imports": dict(taken)}


def save(release: str, found: Mapping[str, Any]) -> None:
    """Keep the figures of a release beside those of the others."""
    kept: dict[str, Any] = json.loads(RESULT.read_text()) if RESULT.is_file() else {"releases": {}}
    ran = machine()
    kept["machine"] = (
        f"CPython {ran['python']} on {ran['processor']}, {ran['cores']} cores, {date.today()}"
    )
    kept["cases"] = CASES
    kept["releases"][release] = dict(found)
    RESULT.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")
