"""Sections of the pages of figures: a command replaces its own and keeps the others.

A section stands between two marks, which Markdown does not show::

    <!-- section: service, by make bench-service -->
    ...
    <!-- end: service -->
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

_SECTION = re.compile(
    r"<!-- section: (?P<name>[\w.-]+), by [^>]* -->\n.*?<!-- end: (?P=name) -->\n", re.S
)
BEFORE = "## What is measured\n"
"""New sections stand before this heading, or at the end where there is none."""


def replace(document: Path, name: str, command: str, parts: Sequence[str]) -> None:
    """Put ``parts`` into the section ``name`` of ``document``, which ``command`` writes."""
    body = "\n\n".join(part.strip("\n") for part in parts)
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


def _insert(text: str, section: str) -> str:
    before, heading, after = text.partition(BEFORE)
    return f"{before.rstrip()}\n\n{section}" + (f"\n{heading}{after}" if heading else "")
