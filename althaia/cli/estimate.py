"""What althaia would save: a profile of a run without it, by the ratios that ``bench`` measures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from althaia.cli import CommandError, bench_command

if TYPE_CHECKING:
    from althaia.trust.profile import Line, Profile

MOST = 5
"""So many schemas are measured, the most expensive ones. Each takes some seconds."""


@dataclass(frozen=True)
class Estimate:
    """Shares of the process's processor time, from 0 to 1."""

    share: float
    """What marshmallow takes in a run without althaia, your own functions in it included."""
    after: float | None
    """What it would take with althaia; None if nothing could be measured."""
    measured: float
    """The share of marshmallow's time for which there is a ratio; the rest counts as unchanged."""
    ratios: dict[str, float]
    """How many times faster a schema is, on data made up from its fields."""
    unknown: dict[str, str]
    """Schemas that were not measured and count as unchanged, with the reasons."""

    def lines(self) -> Iterator[str]:
        forecast = "what althaia would save could not be measured:"
        if self.after is not None:
            forecast = f"with althaia about {self.after:.0%}"
            if self.measured < 0.995:
                forecast += f", measured for {self.measured:.0%} of marshmallow's share"
        yield f"marshmallow is {self.share:.0%} of this process's processor time; {forecast}"
        for name, ratio in self.ratios.items():
            yield f"  {name}: {f'{ratio:.1f} times' if ratio >= 1.05 else 'not'} faster"
        for name, why in self.unknown.items():
            yield f"  {name}: {'counted as unchanged, because ' if self.ratios else ''}{why}"


def estimate(profile: Profile) -> Estimate:
    """Measure the most expensive schemas of a profile, and work out what would be saved."""
    own = sum(line.own for line in profile.lines)
    # A process that waits takes more time than its processor does.
    whole = max(profile.processor, own) or 1.0
    dearest = {f"{line.schema}.{line.direction}": line for line in profile.lines[:MOST]}
    found = {name: _ratio(line) for name, line in dearest.items()}
    ratios = {name: ratio for name, ratio in found.items() if isinstance(ratio, float)}
    unknown = {name: why for name, why in found.items() if isinstance(why, str)}
    measured = sum(dearest[name].own for name in ratios)
    saved = sum(dearest[name].own * max(1 - 1 / ratio, 0) for name, ratio in ratios.items())
    after = (own - saved) / (whole - saved) if ratios else None
    return Estimate(own / whole, after, measured / own if own else 0.0, ratios, unknown)


def _ratio(line: Line) -> float | str:
    """Return how many times faster a schema is, or why that is not known."""
    module, _, name = line.schema.rpartition(".")
    if module == "__main__" or "<locals>" in line.schema:
        return "bench cannot import it"
    schema, direction = f"{module}:{name}", line.direction.rstrip("s")
    try:
        rows = bench_command.measured(schema, [direction], 3, 100)["rows"]
    except CommandError as error:
        return f"`python -m althaia bench {schema} --{direction}` fails: {error}"
    ratio: float | None = rows[-1 if line.objects > line.calls else 0].ratio
    return ratio or "its outputs differ, as bench shows"
