"""What the site makes of the source: commands from their parsers, variables, charts.

A page holds a mark, which GitHub does not show, and the build puts text in its place::

    <!-- made: commands -->
"""

from __future__ import annotations

import argparse
import ast
import html
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
MARK = re.compile(r"^<!-- made: (?P<what>[\w-]+)(?: (?P<of>[^>]*?))? -->$", re.M)


def setup(app: Any) -> dict[str, bool]:
    app.connect("source-read", replace_marks)
    app.connect("env-get-outdated", pages_with_marks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def replace_marks(_app: Any, _name: str, source: list[str]) -> None:
    """Put in the place of each mark what it names."""
    source[0] = MARK.sub(lambda found: MADE[found["what"]](found["of"] or ""), source[0])


def pages_with_marks(app: Any, *_: object) -> list[str]:
    """Made anew each time: what they are made of is not among the pages."""
    return [name for name in app.env.found_docs if MARK.search(_source_of(app, name))]


def _source_of(app: Any, name: str) -> str:
    return Path(app.env.doc2path(name)).read_text("utf-8")


def commands(_: str) -> str:
    """One section a command: what it does, how it is called, its arguments and options."""
    from althaia import cli

    parts = []
    for name in cli.COMMANDS:
        module = cli.module_of(name)
        if configure := getattr(module, "configure", None):
            parser = argparse.ArgumentParser(prog=f"python -m althaia {name}")
            configure(parser)
            parts += [f"## {name}", _described(module.__doc__ or ""), *_parser(parser)]
    return "\n\n".join(parts)


def _described(doc: str) -> str:
    """A docstring as Markdown: what is indented is an example."""
    blocks = re.split(r"\n\s*\n", doc.strip())
    return "\n\n".join(
        f"```console\n{_dedented(block)}\n```" if block.startswith("    ") else _text(block)
        for block in blocks
    )


def _dedented(block: str) -> str:
    return "\n".join("$ " + line.strip() for line in block.splitlines())


def _text(words: str) -> str:
    """Text of a help message, safe in Markdown, on one line; options in it are code."""
    safe = re.sub(r"([<>*_|`\[\]])", r"\\\1", " ".join(words.split()))
    return re.sub(r"(?<!\S)(--[a-z][a-z-]*)", r"`\1`", safe)


def _parser(parser: argparse.ArgumentParser) -> Iterator[str]:
    usage = re.sub(r"\s+", " ", parser.format_usage()).strip()
    yield f"```text\n{usage}\n```"
    rows = [_row(action) for action in parser._actions if action.help != argparse.SUPPRESS]
    yield "\n".join(["| argument | meaning |", "| --- | --- |", *rows])


def _row(action: argparse.Action) -> str:
    value = "" if action.nargs == 0 else str(action.metavar or action.dest.upper())
    if action.choices:
        value = "{" + ",".join(map(str, action.choices)) + "}"
    names = ", ".join(f"{name} {value}".strip() for name in action.option_strings)
    shown = (names or str(action.metavar or action.dest)).replace("|", "\\|")
    filled = (action.help or "") % {**vars(action), "prog": "althaia"}
    return f"| `{shown}` | {_text(filled)} |"


def variables(_: str) -> str:
    """The settings of :class:`althaia.switch.config.Settings`, by their own docstrings."""
    rows = ["| variable | meaning |", "| --- | --- |"]
    for doc in settings():
        name, _, text = doc.partition(":")
        words = " ".join(text.split()).replace("``", "`").replace("|", "\\|")
        rows.append(f"| {name.replace('``', '`')} | {words[:1].upper()}{words[1:]} |")
    return "\n".join(rows)


def settings() -> Iterator[str]:
    """The docstrings below the annotated attributes of ``Settings`` that name a variable."""
    tree = ast.parse((ROOT / "althaia" / "switch" / "config.py").read_text("utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and node.name == "Settings":
            for item in node.body:
                if isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant):
                    doc = str(item.value.value)
                    if doc.startswith("``ALTHAIA_"):
                        yield doc


def chart(heading: str) -> str:
    """Bars of althaia's ratio for the rows below ``heading`` of the tables' page."""
    rows = list(figures(heading))
    if not rows:
        raise ValueError(f"docs/performance-tables.md has no figures below {heading!r}")
    return _bars(rows, heading)


def figures(heading: str) -> Iterator[tuple[str, float]]:
    """Title and ratio of each row of the first table below ``heading``."""
    text = (ROOT / "docs" / "performance-tables.md").read_text("utf-8")
    below = text.partition(f"\n### {heading}\n")[2].partition("\n#")[0]
    lines = [line for line in below.splitlines() if line.startswith("|")]
    if not lines:
        return
    column = [cell.strip() for cell in lines[0].split("|")].index("althaia")
    for line in lines[2:]:
        cells = [cell.strip() for cell in line.split("|")]
        if found := re.match(r"\*{0,2}([\d.]+)×", cells[column]):
            yield re.sub(r"\s*<br>.*", "", cells[1]), float(found[1])


def _bars(rows: list[tuple[str, float]], heading: str) -> str:
    width, left, step = 860, 460, 24
    longest = max(ratio for _, ratio in rows)
    scale = (width - left - 60) / longest
    drawn = []
    for number, (title, ratio) in enumerate(rows):
        y = number * step
        drawn.append(
            f'<text x="{left - 8}" y="{y + 16}" text-anchor="end">{html.escape(title)}</text>'
            f'<rect class="bar" x="{left}" y="{y + 4}" width="{ratio * scale:.1f}" height="16"/>'
            f'<text x="{left + ratio * scale + 6:.1f}" y="{y + 16}">{ratio:g}×</text>'
        )
    height = len(rows) * step
    one = f'<line class="one" x1="{left + scale:.1f}" x2="{left + scale:.1f}" y2="{height}"/>'
    name = html.escape(f"{heading}: times as fast as marshmallow; the dashed line is 1")
    return (
        f'<figure class="chart"><svg viewBox="0 0 {width} {height}" role="img">'
        f"<title>{name}</title>{''.join(drawn)}{one}</svg><figcaption>{name}</figcaption></figure>"
    )


def api(_: str) -> str:
    """Every public function of the package."""
    return _documented("autofunction", lambda value: not isinstance(value, type))


def exceptions(_: str) -> str:
    """Every public exception of the package."""
    return _documented("autoexception", lambda value: isinstance(value, type))


def _documented(directive: str, wanted: Callable[[object], bool]) -> str:
    import althaia

    names = [name for name in althaia.__all__ if not name.startswith("_")]
    lines = [f".. {directive}:: althaia.{n}" for n in names if wanted(getattr(althaia, n))]
    return "\n".join(["```{eval-rst}", "\n\n".join(lines), "```"])


MADE = {
    "api": api,
    "chart": chart,
    "commands": commands,
    "exceptions": exceptions,
    "variables": variables,
}
