"""Help texts as wide as the terminal, with their paragraphs and examples."""

from __future__ import annotations

from argparse import ArgumentParser, HelpFormatter
from textwrap import dedent, fill
from typing import Any


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


class Parser(ArgumentParser):
    """Leaves the help to its caller: argparse hides that standard output cannot be written."""

    def __init__(self, prog: str, description: str | None) -> None:
        super().__init__(prog, description=description, formatter_class=Wrapping)

    def print_help(self, file: Any = None) -> None:
        """Do nothing, where --help asks for it."""

    def show_help(self) -> int:
        """Print the help and return 0.

        :raises OSError: standard output cannot be written
        """
        print(self.format_help(), end="")
        return 0
