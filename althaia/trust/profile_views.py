"""A profile as text of 80 columns and as a page."""

from __future__ import annotations

from html import escape
from textwrap import wrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from althaia.trust.profile import Line, Profile

WIDTH = 80
MOST_FUNCTIONS = 10


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
        counts = map(_number, (line.calls, line.objects))
        times = map(_time, (line.seconds, line.own))
        yield _row(_short(line.schema, 34), line.direction, *counts, *times, user)
    if code := _own_code(profile):
        yield from ("", "Your own code")
    for spent, label in code:
        yield f"  {_time(spent):>8}  {_short(label, WIDTH - 12)}"
    if outside := [line for line in profile.lines if line.outside_calls]:
        yield from ("", "Outside a plan, as a class's first calls are; explain says why")
    for line in outside:
        calls = f"{_number(line.outside_calls)} of {_number(line.calls)} calls"
        yield f"  {_time(line.outside):>8}  {_short(_name(line), WIDTH - 38)} ({calls})"
    if profile.note:
        yield from ("", *wrap(profile.note, WIDTH))


def _row(schema: str, direction: str, *cells: str) -> str:
    calls, objects, total, own, user = cells
    return f"{schema:<35}{direction:<6}{calls:>8}{objects:>9}{total:>8}{own:>8}{user:>6}"


def _own_code(profile: Profile) -> list[tuple[float, str]]:
    """Return the functions of the user's that took most, with their seconds."""
    code = (
        (seconds, f"{_short(line.schema, 30)}.{line.direction}: {name}")
        for line in profile.lines
        for name, seconds in line.code.items()
    )
    return sorted(code, reverse=True)[:MOST_FUNCTIONS]


def _name(line: Line) -> str:
    return f"{line.schema}.{line.direction}"


def _short(name: str, width: int) -> str:
    """Return the end of a name: the class is more telling than the package."""
    return name if len(name) <= width else f"…{name[1 - width :]}"


def _number(count: int) -> str:
    for size, unit in ((10**9, "G"), (10**6, "M")):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count:,}"


def _time(seconds: float) -> str:
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}" if seconds < 1000 else f"{seconds:.0f} s"
    return f"{seconds * 1e9:.0f} ns"


_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>althaia profile</title></head><body>
<h1>althaia profile</h1>
<p>Each schema's own time:</p>
<table>
{bars}</table>
<pre>
{text}
</pre></body></html>
"""


def html(profile: Profile) -> str:
    """Return one page: a bar for each schema's own time, and the text; it loads nothing."""
    most = max((line.own for line in profile.lines), default=0) or 1
    bars = "".join(
        f"<tr><td>{escape(_name(line))}</td><td><meter value={line.own / most:.3f}></meter></td>"
        f"<td>{_time(line.own)}</td></tr>\n"
        for line in profile.lines
    )
    return _PAGE.format(bars=bars, text=escape(text(profile)))
