"""What althaia would save: a profile of a run without it, by the ratios that ``bench`` measures."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from althaia.trust.profile import Line, Profile

MOST = 5
"""So many schemas are measured, the most expensive ones. Each takes some seconds."""


@dataclass(frozen=True)
class Estimate:
    """Shares of the process's processor time, from 0 to 1."""

    share: float
    """What marshmallow takes in a run without althaia, your own functions in it included."""
    after: float
    """What it would take with althaia."""
    ratios: dict[str, float]
    """How many times faster a schema is, on data made up from its fields."""
    unknown: dict[str, str]
    """Schemas that were not measured and count as unchanged, with the reasons."""

    def as_dict(self) -> dict[str, Any]:
        """Return the same as plain data, ready for JSON."""
        return asdict(self)

    def lines(self) -> Iterator[str]:
        yield (
            f"marshmallow is {self.share:.0%} of this process's processor time; "
            f"with althaia about {self.after:.0%}"
        )
        for name, ratio in self.ratios.items():
            yield f"  {name}: {f'{ratio:.1f} times' if ratio >= 1.05 else 'not'} faster"
        for name, why in self.unknown.items():
            yield f"  {name}: counted as unchanged, because {why}"


def estimate(profile: Profile) -> Estimate:
    """Measure the most expensive schemas of a profile, and work out what would be saved."""
    own = sum(line.own for line in profile.lines)
    # A process that waits takes more time than its processor does.
    whole = max(profile.processor, own) or 1.0
    ratios: dict[str, float] = {}
    unknown: dict[str, str] = {}
    saved = 0.0
    for line in profile.lines[:MOST]:
        name = f"{line.schema}.{line.direction}"
        found = _ratio(line)
        if isinstance(found, str):
            unknown[name] = found
        else:
            ratios[name] = found
            saved += line.own * max(1 - 1 / found, 0)
    return Estimate(own / whole, (own - saved) / (whole - saved), ratios, unknown)


def _ratio(line: Line) -> float | str:
    """Return how many times faster a schema is, or why that is not known."""
    module, _, name = line.schema.rpartition(".")
    if module == "__main__" or "<locals>" in line.schema:
        return "bench cannot import it"
    words = (f"{module}:{name}", f"--{line.direction.rstrip('s')}", "--objects=100", "--rounds=3")
    environment = {key: value for key, value in os.environ.items() if key != "ALTHAIA_DISABLE"}
    done = subprocess.run(
        [sys.executable, "-m", "althaia", "bench", *words, "--json"],
        # Two pipes would need threads, which cannot be started any more at the exit.
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=False,
        env=environment | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    try:
        rows = json.loads(done.stdout)["rows"]
        ratio = rows[-1 if line.objects > line.calls else 0]["ratio"]
    except (ValueError, LookupError):
        return f"`python -m althaia bench {' '.join(words[:2])}` fails"
    return float(ratio) if ratio else "its outputs differ, as bench shows"
