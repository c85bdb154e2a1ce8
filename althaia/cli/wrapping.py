"""Help texts as wide as the terminal, with their paragraphs and examples."""

from __future__ import annotations

from argparse import HelpFormatter
from textwrap import dedent


class Wrapping(HelpFormatter):
    """Wraps each paragraph of a description. Lines that are indented stay as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        fill = super()._fill_text
        paragraphs = dedent(text).strip().split("\n\n")
        return "\n\n".join(
            each if each.startswith(" ") else fill(each, width, indent) for each in paragraphs
        )
