"""Sections of the pages of figures: a command replaces its own and keeps the others.

A section says when and of which commit it was measured; ``python docs/made.py --check`` finds those
that are older than :data:`CHANGED`. It stands between two marks, which Markdown does not show::

    <!-- section: service, by make bench-service -->
    ...
    <!-- end: service -->
"""

from __future__ import annotations

import datetime
import re
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

CHANGED = "2026-11-27"
"""The day of the last change of the engine's speed. What was measured before it is stale: it is
measured again, or taken out of the page."""

_SECTION = re.compile(
    r"<!-- section: (?P<name>[\w.-]+), by (?P<command>[^>]*) -->\n.*?<!-- end: (?P=name) -->\n",
    re.S,
)
BEFORE = "## What is measured\n"
"""New sections stand before this heading, or at the end where there is none."""


def replace(document: Path, name: str, command: str, parts: Sequence[str]) -> None:
    """Put ``parts`` into the section ``name`` of ``document``, which ``command`` writes."""
    heading, *rest = parts
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=False,
    ).stdout.strip()
    measured = f"Measured {datetime.date.today()}, commit {commit or 'unknown'}."
    body = "\n\n".join(part.strip("\n") for part in (heading, measured, *rest))
    section = f"<!-- section: {name}, by {command} -->\n\n{body}\n\n<!-- end: {name} -->\n"
    text = document.read_text()
    for found in _SECTION.finditer(text):
        if found["name"] == name:
            document.write_text(text[: found.start()] + section + text[found.end() :])
            return
    document.write_text(_insert(text, section))


def carried(document: Path, text: str) -> str:
    """``text`` with the sections that ``document`` has now."""
    if not document.exists():
        return text
    sections = [found[0] for found in _SECTION.finditer(document.read_text())]
    return _insert(text, "\n".join(sections)) if sections else text


def stale(text: str) -> Iterator[str]:
    """Yield what is wrong with the sections of a page: no date, or an old one."""
    for found in _SECTION.finditer(text):
        day = re.search(r"^Measured (\d{4}-\d\d-\d\d), commit \w+\.$", found[0], re.M)
        if day is None or day[1] < CHANGED:
            since = f"measured {day[1]}, before {CHANGED}" if day else "without date and commit"
            yield f"the section {found['name']} is {since}: {found['command']}, or take it out"


def _insert(text: str, section: str) -> str:
    before, heading, after = text.partition(BEFORE)
    return f"{before.rstrip()}\n\n{section}" + (f"\n{heading}{after}" if heading else "")
