"""Indented text as a tree on a terminal, where rich is installed."""

from __future__ import annotations

INDENT = "  "

WIDE = ("left to the field", "upstream's own code", "no plans run", "nested schema unknown")
"""What is highlighted: steps without a plan."""


def show(text: str) -> None:
    """Print an explanation: as a tree on a terminal if rich is installed, else unchanged."""
    try:
        from rich.console import Console
    except ModuleNotFoundError:
        print(text)
        return
    console = Console()
    if not console.is_terminal:
        print(text)
        return

    from rich.text import Text
    from rich.tree import Tree

    root = Tree("", hide_root=True, guide_style="dim")
    branches = [root]
    for line in text.splitlines():
        content = line.lstrip(" ")
        depth = (len(line) - len(content)) // len(INDENT)
        label = Text(content)
        if any(words in content for words in WIDE):
            label.stylize("yellow")
        else:
            label.highlight_regex(r"^[^:]+(?=:)", "bold")
            label.highlight_regex(r"\([^()]*\)$", "dim")
        del branches[depth + 1 :]
        branches.append(branches[depth].add(label))
    console.print(root)
