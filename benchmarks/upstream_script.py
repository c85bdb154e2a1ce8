"""Run marshmallow's own benchmark script, unchanged, on upstream and patched.

The script is no part of any release, so its path is given by whoever has a checkout of
marshmallow: ``python -m benchmarks --upstream-script ../marshmallow/performance/benchmark.py``.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

PUBLISHED = (
    ("--object-count", "1000"),
    ("--iterations=5", "--repeat=5", "--object-count", "20000"),
    ("--iterations=10", "--repeat=10", "--object-count", "10000"),
)
"""The ways of use that marshmallow and its accelerators publish figures for."""

_NUMBER = re.compile(r"\d+(?:\.\d+)?")


class ScriptFailed(OSError):
    """The script ended with an error, or its last line has no figure in it."""


def run(
    script: Path,
    *,
    quick: bool = False,
    say: Callable[[str], object] = print,
    ways: Sequence[Sequence[str]] = PUBLISHED,
) -> int:
    """Print the script's result line on either side, and the ratio, for each way of use.

    Raises ScriptFailed, and FileNotFoundError when there is no such script.
    """
    if not script.is_file():
        raise FileNotFoundError(
            f"{script}: no such file; give the path of benchmark.py in a checkout of marshmallow"
        )
    for options in ways[:1] if quick else ways:
        say(f"{script.name} {' '.join(options)}")
        upstream = result_line([sys.executable, str(script), *options])
        say(f"  marshmallow  {upstream}")
        ours = result_line([sys.executable, "-m", "althaia", str(script), *options])
        say(f"  althaia      {ours}")
        say(f"  ratio        {figure(upstream) / figure(ours):.2f}×")
    return 0


def result_line(command: Sequence[str]) -> str:
    """The last line that ``command`` prints."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("ALTHAIA_")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    lines = done.stdout.strip().splitlines()
    if done.returncode or not lines:
        raise ScriptFailed(f"{' '.join(command)} failed:\n{done.stderr.strip()[-1000:]}")
    return lines[-1].strip()


def figure(line: str) -> float:
    """The number in a result line.

    >>> figure("Benchmark Result: 421.50 usec/dump")
    421.5
    """
    found = _NUMBER.search(line)
    if found is None:
        raise ScriptFailed(f"no figure in the script's last line: {line!r}")
    return float(found[0])
