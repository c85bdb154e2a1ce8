"""Help texts as wide as the terminal, with their paragraphs and examples."""

from __future__ import annotations

from argparse import HelpFormatter
from textwrap import dedent, fill


class Wrapping(HelpFormatter):
    """Wraps each paragraph of a description. Lines that are indented stay as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        paragraphs = []
        for paragraph in dedent(text).strip().split("\n\n"):
            if paragraph.startswith(" "):
                paragraphs.append(paragraph)
            else:
                paragraphs.append(
                    fill(" ".join(paragraph.split()), width, break_on_hyphens=False,
                         break_long_words=False)
                )  # fmt: skip
        return "\n\n".join(paragraphs)
