"""A profile as text of 80 columns."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from althaia.trust.profile import Line, Profile

WIDTH = 80
MOST_FUNCTIONS = 10
_ROUGHLY = (
    "~ watching your functions took more than a fifth of the line's time; as much as was measured "
    "with empty functions is subtracted"
)


def text(profile: Profile) -> str:
    """Tables of at most 80 columns: schemas, the user's code, what is outside plans."""
    return "\n".join(line.rstrip() for line in _lines(profile))


def _lines(profile: Profile) -> Iterator[str]:
    if not profile.lines:
        yield "No schema was dumped or loaded."
    else:
        yield _row("schema", "", "calls", "objects", "total", "own", "user")
    for line in profile.lines:
        user = f"{line.user / line.own:.0%}" if line.own and line.user else "-"
        counts = map(number, (line.calls, line.objects))
        times = [time(line.seconds), time(line.own)]
        if line.overhead > line.own / 5:
            times[1] = f"~{times[1]}"
        yield _row(short(line.schema, 33), line.direction, *counts, *times, user)
    for whose, heading in (("code", "Your own code"), ("packages", "Code of installed packages")):
        if code := _functions(profile, whose):
            yield from ("", heading)
        for spent, label in code:
            yield f"  {time(spent):>8}  {short(label, WIDTH - 12)}"
    if outside := [line for line in profile.lines if line.outside_calls]:
        yield from ("", "Outside a plan, as a class's first calls are; explain says why")
    for line in outside:
        calls = f"{number(line.outside_calls)} of {number(line.calls)} calls"
        yield f"  {time(line.outside):>8}  {short(_name(line), WIDTH - 38)} ({calls})"
    if any(line.overhead > line.own / 5 for line in profile.lines):
        yield from ("", *wrap(_ROUGHLY, WIDTH))
    if profile.note:
        yield from ("", *wrap(profile.note, WIDTH))


def _row(schema: str, direction: str, *cells: str) -> str:
    calls, objects, total, own, user = cells
    return f"{schema:<34}{direction:<6}{calls:>8}{objects:>9}{total:>8}{own:>9}{user:>6}"


def _functions(profile: Profile, whose: str) -> list[tuple[float, str]]:
    """Return the functions that took most, with their seconds."""
    code = (
        (seconds, f"{short(line.schema, 30)}.{line.direction}: {name}")
        for line in profile.lines
        for name, seconds in getattr(line, whose).items()
    )
    return sorted(code, reverse=True)[:MOST_FUNCTIONS]


def _name(line: Line) -> str:
    return f"{line.schema}.{line.direction}"


def short(name: str, width: int) -> str:
    """Return the end of a name: the class is more telling than the package."""
    return name if len(name) <= width else f"…{name[1 - width :]}"


def number(count: int) -> str:
    for size, unit in ((10**9, "G"), (10**6, "M")):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count:,}"


def time(seconds: float) -> str:
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}" if seconds < 1000 else f"{seconds:.0f} s"
    return f"{seconds * 1e9:.0f} ns"
