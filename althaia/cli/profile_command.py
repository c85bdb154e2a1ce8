"""Run a program and show where the time of its dumps and loads went.

The program runs as by python -m althaia, with its own exit code. At its end the profile is written
to standard error, or to a file. What the columns mean:
https://github.com/dsimidzija/python-althaia/blob/main/docs/profile.md

With ALTHAIA_DISABLE=1 the program runs on the real marshmallow, and the profile ends with what
althaia would save, by the measured ratios of the most expensive schemas.
"""

from __future__ import annotations

import argparse
import atexit
import json
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from althaia.cli import CommandError, bench_command, run
from althaia.switch.config import settings
from althaia.trust.profile import profile

if TYPE_CHECKING:
    from althaia.trust.profile import Line, Profile

MOST = 5
"""So many schemas are measured, the most expensive ones. Each takes some seconds."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--output", metavar="FILE", help="write there, not to standard error")
    parser.add_argument("--html", metavar="FILE", help="also write a page with bars")
    rest = argparse.REMAINDER
    parser.add_argument("-m", dest="module", nargs=rest, metavar="MODULE", help="run a module")
    parser.add_argument("-c", dest="code", nargs=rest, metavar="CODE", help="run code")
    parser.add_argument("script", nargs=rest, metavar="SCRIPT", help="a script, its arguments")


def execute(options: argparse.Namespace) -> int:
    words = list(options.script)
    if options.module is not None:
        words = ["-m", *options.module]
    elif options.code is not None:
        words = ["-c", *options.code]
    for option in ("output", "html"):
        if file := getattr(options, option):
            try:
                open(file, "ab").close()
            except OSError as error:
                return run.refuse(f"{file}: cannot be written: {error.strerror}")
            # The program may change the folder.
            setattr(options, option, os.path.abspath(file))
    stack = ExitStack()

    def begin() -> None:
        result = stack.enter_context(profile())
        # By then a traceback has been shown and the program's threads have ended.
        atexit.register(_show, stack, result, options)

    return run.execute(words, begin)


def _show(stack: ExitStack, result: Profile, options: argparse.Namespace) -> None:
    stack.close()
    found, text = result.as_dict(), result.as_text()
    if settings().disable and result.lines:
        saved = estimate(result)
        found["estimate"] = asdict(saved)
        text = "\n".join((text, "", *saved.lines()))
    if options.json:
        text = json.dumps(found, indent=2)
    if options.html:
        Path(options.html).write_text(result.as_html(), "utf-8")
    if options.output:
        Path(options.output).write_text(text + "\n", "utf-8")
    else:
        print(text, file=sys.stderr)


@dataclass(frozen=True)
class Estimate:
    """Shares of the process's processor time, from 0 to 1."""

    share: float
    """What marshmallow takes in a run without althaia, your own functions in it included."""
    after: float | None
    """What the whole process would take with althaia; None if nothing could be measured."""
    measured: float
    """The share of marshmallow's time for which there is a ratio; the rest counts as unchanged."""
    ratios: dict[str, float]
    """How many times faster a schema is, on data made up from its fields."""
    unknown: dict[str, str]
    """Schemas that were not measured and count as unchanged, with the reasons."""

    def lines(self) -> Iterator[str]:
        forecast = "what althaia would save could not be measured:"
        if self.after is not None:
            forecast = f"with althaia the process would take about {self.after:.0%} of it"
            if self.measured < 0.995:
                forecast += f", measured for {self.measured:.0%} of marshmallow's share"
        yield f"marshmallow is {self.share:.0%} of this process's processor time; {forecast}"
        for name, ratio in self.ratios.items():
            yield f"  {name}: {f'{ratio:.1f} times' if ratio >= 1.05 else 'not'} faster"
        for name, why in self.unknown.items():
            yield f"  {name}: {'counted as unchanged, because ' if self.ratios else ''}{why}"
        if self.ratios:
            yield "Your own code in these calls, lazy loads of an ORM too, will be no faster."


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
    after = (whole - saved) / whole if ratios else None
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
