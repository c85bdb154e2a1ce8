"""A profile as text of 80 columns and as a page."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from althaia.trust.profile import Line, Profile

WIDTH = 80


def text(profile: Profile) -> str:
    """Tables of at most 80 columns: schemas, the user's code, what is outside plans."""
    return "\n".join(line.rstrip() for line in _lines(profile))


def _lines(profile: Profile) -> Iterator[str]:
    if not profile.lines:
        yield "No schema was dumped or loaded."
    else:
        yield _row("schema", "", _HEADS)
    for line in profile.lines:
        yield _row(_short(line.schema, 34), line.direction, _cells(line))
    if code := _own_code(profile, 30):
        yield from ("", "Your own code")
    for label, spent in code:
        yield f"  {spent:>8}  {_short(label, WIDTH - 12)}"
    if outside := _outside(profile):
        yield from ("", "Outside a plan")
    for names, reason in outside:
        yield from (*_wrapped(names, "  "), *_wrapped(reason, "    "))
    if profile.note:
        yield from ("", *_wrapped(profile.note, ""))


_HEADS = ("calls", "objects", "total", "own", "user")


def _row(schema: str, direction: str, cells: tuple[str, ...]) -> str:
    calls, objects, total, own, user = cells
    return f"{schema:<35}{direction:<6}{calls:>8}{objects:>9}{total:>8}{own:>8}{user:>6}"


def _cells(line: Line) -> tuple[str, ...]:
    user = f"{line.user / line.own:.0%}" if line.own and line.user else "-"
    counts, times = (line.calls, line.objects), (line.seconds, line.own)
    return *map(_number, counts), *map(_time, times), user


def _outside(profile: Profile) -> list[tuple[str, str]]:
    """Return the schemas for which each reason holds, and the reason."""
    found: dict[str, list[str]] = {}
    for line in profile.lines:
        left = f" ({_number(line.outside_calls)} of {_number(line.calls)} calls)"
        for reason in line.why:
            found.setdefault(reason, []).append(
                f"{line.schema}.{line.direction}{left * bool(line.outside_calls)}"
            )
    return [(", ".join(names), reason) for reason, names in found.items()]


def _own_code(profile: Profile, width: int = 1_000) -> list[tuple[str, str]]:
    """Return the pieces of the user's code that took most, with their times."""
    code = (
        (seconds, f"{_short(line.schema, width)}.{line.direction}: {name}")
        for line in profile.lines
        for name, seconds in line.code.items()
    )
    return [(label, _time(seconds)) for seconds, label in sorted(code, reverse=True)[:10]]


def _wrapped(words: str, indent: str) -> list[str]:
    from textwrap import wrap

    return wrap(words, WIDTH, initial_indent=indent, subsequent_indent=indent)


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
<html lang="en"><head><meta charset="utf-8"><title>althaia profile</title><style>
body{{font:15px/1.5 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em}}
table{{border-collapse:collapse;width:100%}}
th,td{{text-align:right;padding:.2em .5em;border-bottom:1px solid #ddd}}
th:first-child,td:first-child,.words th,.words td{{text-align:left}}
td{{overflow-wrap:anywhere}}
</style></head><body><h1>althaia profile</h1>
{tables}{note}</body></html>
"""


def html(profile: Profile) -> str:
    """Return one page, with a bar for each schema's own time; it loads nothing."""
    most = max((line.own for line in profile.lines), default=0) or 1
    schemas = [
        (
            f"{line.schema}.{line.direction}",
            *_cells(line),
            f"<meter value={line.own / most:.3f}></meter>",
        )
        for line in profile.lines
    ]
    tables = (
        _table("Schemas", ("schema", *_HEADS, ""), schemas)
        + _table("Your own code", ("where", "time"), _own_code(profile))
        + _table("Outside a plan", ("schema", "why"), _outside(profile), "words")
    )
    return _PAGE.format(tables=tables, note=f"<p>{escape(profile.note)}</p>")


def _table(
    title: str, heads: tuple[str, ...], rows: Iterable[tuple[str, ...]], kind: str = ""
) -> str:
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>\n" for row in rows)
    if not body:
        return ""
    head = "".join(f"<th>{name}</th>" for name in heads)
    return f"<h2>{title}</h2>\n<table class='{kind}'><tr>{head}</tr>\n{body}</table>\n"


def _cell(cell: str) -> str:
    return f"<td>{cell if cell.startswith('<meter') else escape(cell)}</td>"
