"""``python docs/made.py``: write what pages show of the source and of measured pages.

What stands between two marks is replaced, and each figure before a mark with ``=``; ``--check``
only says which pages are stale, and which figures no section has measured, or an old one. The text
is committed, because readers come to these pages on GitHub, which runs nothing::

    <!-- made: commands -->
    ...
    <!-- end -->

    saves 1.6<!--= service | 1,000 orders | switch only --> of it
"""

from __future__ import annotations

import argparse
import ast
import html
import importlib
import inspect
import math
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
MARK = re.compile(
    r"^<!-- made: (?P<what>[\w-]+)(?: (?P<of>[^>]*?))? -->\n(?P<text>.*?)^<!-- end -->$",
    re.M | re.S,
)

# The figure before the mark is that of a row and a column of docs/performance-PAGE.md.
FIGURE = re.compile(r"[^\s|*(]+<!--= (?P<page>[\w-]+) \| (?P<row>[^|>]+) \| (?P<column>[^|>]+) -->")
# Figures of times and sizes, which a page that is written by hand may not have by itself.
MEASURED = re.compile(
    r"\d[\d.,]*(?:×|[ -](?:times (?:as|less|more)\b|(?:ns|µs|ms|s|MiB|MB|KB|words)\b))"
)
BY_HAND = {
    "many-machines": "the sizes of parts and limits are settings",
    "security": "its own measurements, dated there",
    "threads": "its own measurements, dated there",
    "releasing": "the sizes of what is released",
    "architecture": "what was tried and left",
}

# The package index shows the README, too.
RAW = "https://raw.githubusercontent.com/dsimidzija/python-althaia/main/docs/"


PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]


def made() -> dict[Path, str]:
    """Every page with a mark and every chart, as they should be."""
    files: dict[Path, str] = {}

    def fill(found: re.Match[str]) -> str:
        text = MADE[found["what"]](found["of"] or "")
        if found["what"] == "chart":
            picture = DOCS / "_static" / f"{_file_name(found['of'])}.svg"
            files[picture] = text
            link = f"{RAW if page.parent == ROOT else ''}_static/{picture.name}"
            unit = "µs per object" if found["of"] == GROWTH else "times as fast as marshmallow"
            text = f"![{found['of']}: {unit}]({link})"
        return f"{found[0].partition(chr(10))[0]}\n\n{text}\n\n<!-- end -->"

    for page in PAGES:
        text = page.read_text("utf-8")
        if MARK.search(text) or FIGURE.search(text):
            files[page] = FIGURE.sub(_figure, MARK.sub(fill, text))
    return files


def wrong() -> Iterator[str]:
    """Yield which figures of pages no section has measured, and which sections are old."""
    from benchmarks import sections

    for page in PAGES:
        text = page.read_text("utf-8")
        yield from (f"{page.name}: {what}" for what in sections.stale(text))
        if page.stem.startswith("performance-") or page.stem in BY_HAND:
            continue
        own = re.sub(r"^```.*?^```$", "", FIGURE.sub("", MARK.sub("", text)), flags=re.M | re.S)
        yield from (
            f"{page.name}: {found[0]!r} is from no measured page: {line.strip()[:80]}"
            for line in own.splitlines()
            if (found := MEASURED.search(line))
        )


def main() -> int:
    check = "--check" in sys.argv
    sys.path.insert(0, str(ROOT))
    stale = [
        path
        for path, text in made().items()
        if not path.is_file() or path.read_text("utf-8") != text
    ]
    for path in stale:
        print(f"{path.relative_to(ROOT)} is stale: run 'make pages'" if check else path)
        if not check:
            path.write_text(made()[path], "utf-8")
    problems = list(wrong())
    print(*problems, sep="\n", end="\n" if problems else "")
    return 1 if problems or (check and stale) else 0


def _file_name(title: str) -> str:
    return re.sub(r"\W+", "-", title.lower())


def commands(_: str) -> str:
    """One section a command: what it does, its arguments and options, each described once."""
    from althaia import cli

    parts = []
    said: set[str] = set()
    for name in cli.COMMANDS:
        parser = cli.parser_of(name)
        parser.prog = f"althaia {name}"
        described = _described(cli.module_of(name).__doc__ or "")
        rows = [*_rows(parser)]
        again = [row.split(" | ")[0].strip("| ") for row in rows if row in said]
        parts += [f"## {name}", described]
        if new := [row for row in rows if row not in said]:
            parts.append("\n".join(["| argument | meaning |", "| --- | --- |", *new]))
        if again:
            parts.append(f"And as above: {', '.join(again)}.")
        said.update(rows)
    return "\n\n".join(parts)


def _described(doc: str) -> str:
    """A docstring as Markdown: what is indented is an example."""
    blocks = re.split(r"\n\s*\n", doc.strip())
    return "\n\n".join(
        f"```text\n{_dedented(block)}\n```" if block.startswith("    ") else _text(block)
        for block in blocks
    )


def _dedented(block: str) -> str:
    return "\n".join("$ " + line.strip() for line in block.splitlines())


def _text(words: str) -> str:
    """Text of a help message, safe in Markdown, on one line; options in it are code."""
    safe = re.sub(r"([<>*_|`\[\]])", r"\\\1", " ".join(words.split()))
    return re.sub(r"(?<!\S)(--[a-z][a-z-]*)", r"`\1`", safe)


def _rows(parser: argparse.ArgumentParser) -> Iterator[str]:
    """A line for each argument but those that all commands have."""
    for action in parser._actions:
        if action.help != argparse.SUPPRESS and action.dest not in ("help", "json"):
            yield _row(action)


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


PEOPLE_DO = {
    "Dump 1,000 plain objects": ("Dumping", "15 flat fields, 1,000 dataclasses"),
    "Dump 1,000 rows of SQLAlchemy": ("Dumping", "15 flat fields, 1,000 rows of SQLAlchemy Core"),
    "Dump 1,000 orders with lines and products": (
        "Dumping",
        "1,000 orders with customer, 3 lines and products from the ORM",
    ),
    "Load 10,000 records": ("Loading", "15 flat fields, 10,000"),
    "Load one small record with two errors": ("Loading", "one small dict with two errors"),
    "OrderSchema().dump(order), a schema per call": (
        "A schema for each call",
        "S().dump(one), 5 fields",
    ),
    "OrderSchema().load(order)": ("A schema for each call", "S().load(one)"),
    "Write 1,000 objects as JSON text": ("JSON text", "to text: 1,000 benchmark quotes"),
}
"""The rows of the first picture: what they are called, and where they stand in the tables."""


def chart(heading: str) -> str:
    """Bars of althaia's ratio for the rows below ``heading`` of the tables' page."""
    if heading == GROWTH:
        return _lines(list(rows_below("tables", heading)))
    if heading == "What people do":
        rows = [(title, dict(figures(at))[row]) for title, (at, row) in PEOPLE_DO.items()]
    else:
        rows = list(figures(heading))
    if not rows:
        raise ValueError(f"docs/performance-tables.md has no figures below {heading!r}")
    return _bars(rows, heading)


Row = dict[str, str]


def rows_below(page: str, heading: str = "") -> Iterator[Row]:
    """The rows of the tables of a measured page, or of those below a heading, by column."""
    text = (DOCS / f"performance-{page}.md").read_text("utf-8").partition("\n<!-- section: ")[2]
    if heading:
        text = re.split(r"\n#", text.partition(f"# {heading}\n")[2])[0]
    for table in re.findall(r"(?:^\|.*\n)+", text, re.M):
        heads, _, *lines = (
            [c.strip() for c in line.split("|")[1:-1]] for line in table.splitlines()
        )
        first = ""
        for cells in lines:
            # The title stands in the first of several rows.
            first = cells[0] = re.sub(r"\s*<br>.*", "", cells[0]) or first
            yield dict(zip(heads, cells, strict=True))


def figures(heading: str) -> Iterator[tuple[str, float]]:
    """Title and ratio of each row of the tables below ``heading``."""
    for row in rows_below("tables", heading):
        if found := re.match(r"\*{0,2}([\d.]+)×", row["althaia"]):
            yield next(iter(row.values())), float(found[1])


def _figure(found: re.Match[str]) -> str:
    """A figure and its mark. The row ``least Dumping`` is the lowest ratio below that heading."""
    page, row, column = found["page"], found["row"], found["column"]
    which, _, heading = row.partition(" ")
    if which in ("least", "most"):
        ratio = (min if which == "least" else max)(ratio for _, ratio in figures(heading))
        shown = f"{ratio:.0f}"
    else:
        shown = _cell(row, column, rows_below(page)).partition(" ")[0]
    return f"{shown}{found[0][found[0].index('<!--=') :]}"


def _cell(row: str, column: str, rows: Iterable[Row]) -> str:
    """The figure in a row, whose title may be followed by that of its second column."""
    for cells in rows:
        title, second, *_ = cells.values()
        if row in (title, f"{title}, {second}") and column in cells:
            return re.sub(r"\*| ±.*", "", cells[column])
    raise LookupError(f"no measured page has {column!r} of {row!r}")


def table(spec: str) -> str:
    """Rows and columns of a measured page: ``service / HEADING / COLUMN; … / ROW; …``."""
    page, heading, columns, *titles = (part.strip() for part in spec.split(" / "))
    rows = list(rows_below(page, heading))
    heads = [next(iter(rows[0])), *columns.split("; ")]
    wanted = titles[0].split("; ") if titles else [next(iter(row.values())) for row in rows]
    lines = [[title, *(_cell(title, column, rows) for column in heads[1:])] for title in wanted]
    rule = ["---", *["--:"] * (len(heads) - 1)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (heads, rule, *lines))


GROWTH = "Cost as the collection grows"
GROWN = ("nested, dump", "nested, load")
"""The rows of its table that are drawn."""


def _lines(rows: list[Row]) -> str:
    """What an object takes on both sides, over the number of objects, on logarithmic scales."""
    drawn = []
    for row in rows:
        title, *cells = row.values()
        if title not in GROWN:
            continue
        # A cell has the ratio and the microseconds of both sides.
        seen = [re.findall(r"[\d.]+", cell)[1:3] for cell in cells if "×" in cell]
        for side, name in enumerate(("marshmallow", "althaia")):
            micros = [float(both[side]) for both in seen]
            points = [(60 + 66 * n, 140 - 80 * math.log10(us)) for n, us in enumerate(micros)]
            path = " ".join(f"{x},{y:.1f}" for x, y in points)
            dashed = ' stroke-dasharray="4"' if title.endswith("load") else ""
            x, y = points[-1]
            drawn.append(
                f'<polyline points="{path}"{dashed}/>'
                f'<text x="{x + 6}" y="{y + 5:.1f}">{name}, {title.split()[-1]}</text>\n'
            )
    sizes = [head for head in rows[0] if head[0].isdigit()]
    for n, size in enumerate(sizes):
        drawn.append(f'<text x="{45 + 66 * n}" y="252">{size}</text>\n')
    for micro in (0.1, 1, 10):
        drawn.append(f'<text x="0" y="{145 - 80 * math.log10(micro):.0f}">{micro:g} µs</text>\n')
    drawn.append('<text x="0" y="274">µs per object, by number of objects; dashed: load</text>\n')
    return _picture(f"{GROWTH}: µs per object", drawn, 420, 280)


def _bars(rows: list[tuple[str, float]], heading: str) -> str:
    """A picture that a phone can show: each label stands above its bar."""
    width, height = 420, 0
    scale = (width - 70) / max(ratio for _, ratio in rows)
    drawn = []
    for title, ratio in rows:
        for line in textwrap.wrap(title, 56):
            height += 18
            drawn.append(f'<text x="0" y="{height - 2}">{html.escape(line)}</text>\n')
        drawn.append(
            f'<rect x="0" y="{height + 2}" width="{ratio * scale:.1f}" height="14"/>'
            f'<text x="{ratio * scale + 6:.1f}" y="{height + 14}">{ratio:g}×</text>\n'
        )
        height += 22
    height += 20
    drawn.append(f'<text x="0" y="{height - 6}">{html.escape(CAPTION)}</text>\n')
    return _picture(f"{heading}: times as fast as marshmallow", drawn, width, height)


def _picture(title: str, drawn: list[str], width: int, height: int) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-12 -8 {width + 24} {height + 16}" '
        'role="img">\n'
        f"<title>{html.escape(title)}</title>\n<style>{STYLE}</style>\n"
        '<rect class="page" x="-12" y="-8" width="100%" height="100%" rx="6"/>\n'
        f"{''.join(drawn)}\n</svg>\n"
    )


CAPTION = "times as fast as marshmallow, CPython 3.11"
STYLE = (
    # A background of its own: the page behind it is light or dark, whatever the system prefers.
    "text { font: 14px sans-serif; fill: #1f2328 } rect { fill: #2f6fde } .page { fill: #f6f8fa }"
    " polyline { fill: none; stroke: #2f6fde; stroke-width: 2 }"
)


def api(names: str) -> str:
    """What functions, classes and modules say of themselves, by their full names.

    ``althaia`` stands for all public functions of the package.
    """
    if names == "althaia":
        names = " ".join(_public(lambda value: not isinstance(value, type)))
    parts = [part for name in names.split() for part in _documented(name)]
    said: set[str] = set()
    return "\n\n".join(filter(None, (_without(said, part) for part in parts)))


def _without(said: set[str], part: str) -> str:
    """A part without the parameters and paragraphs that were said before in the same words."""
    lines = [line for line in part.splitlines() if line not in said]
    said.update(line for line in lines if line.startswith("- ") or len(line) > 60)
    return "\n".join(lines).strip()


def exceptions(names: str) -> str:
    """Every public exception of the package, and those that ``names`` adds."""
    text = api(" ".join([*_public(lambda value: isinstance(value, type)), names]))
    return text.replace("### `", "## `")


def _public(wanted: Callable[[object], bool]) -> list[str]:
    import althaia

    names = [name for name in althaia.__all__ if not name.startswith("_")]
    return [f"althaia.{name}" for name in names if wanted(getattr(althaia, name))]


def _documented(name: str) -> Iterator[str]:
    value = _named(name)
    signature = "" if inspect.ismodule(value) or _is_exception(value) else _signature(value)
    yield f"### `{name}`"
    # Nobody but althaia makes a result.
    if signature not in ("", "()") and not is_dataclass(value):
        yield f"```py\n{name.rpartition('.')[2]}{signature}\n```"
    yield markdown(inspect.getdoc(value) or "")
    if isinstance(value, type) and not _is_exception(value):
        for key, member in vars(value).items():
            doc = getattr(member, "__doc__", None) if inspect.isroutine(member) else None
            # Those with other parameters are called by a framework, or by althaia.
            if doc and key[0] != "_" and _signature(member).startswith(("()", "(*")):
                yield f"`{key}{_signature(member)}`: {markdown(inspect.cleandoc(doc))}"


def _is_exception(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, Exception)


def _named(name: str) -> Any:
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            value = importlib.import_module(".".join(parts[:length]))
        except ImportError:
            continue
        for part in parts[length:]:
            value = getattr(value, part)
        return value
    raise LookupError(name)


def _signature(value: Any) -> str:
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return "(...)"
    plain = [
        each.replace(annotation=inspect.Parameter.empty)
        for each in found.parameters.values()
        if each.name not in {"self", "cls"}
    ]
    text = str(found.replace(parameters=plain, return_annotation=inspect.Signature.empty))
    text = re.sub(r"=<module '([^']+)' from '[^']*'>", r"=\1", text)
    return re.sub(r"=<.*? at 0x\w+>", "=...", text)


_FIELD = re.compile(
    r"^:(?P<kind>param|raises|returns?|ivar) ?(?P<name>[^:]*): ?(?P<text>.*)$", re.S
)
_ROLE = re.compile(r":\w+:`~?([^`]+)`")


def markdown(doc: str) -> str:
    """A docstring in Markdown: its lists of parameters, its literal text, its examples.

    >>> markdown("Of ``x``.\\n\\n:param x: the :class:`X`")
    'Of `x`.\\n\\n- `x`: the `X`'
    """
    blocks: list[str] = []
    for block in re.split(r"\n\s*\n", doc):
        if block.startswith((" ", ">>>")):
            code = inspect.cleandoc(block)
            if blocks and blocks[-1].endswith("\n```"):
                blocks[-1] = f"{blocks[-1][:-4]}\n\n{code}\n```"
            else:
                blocks.append(f"```py\n{code}\n```")
            continue
        parts = re.split(r"\n(?=:\w)", block) if block.startswith(":") else [block]
        blocks.append("\n".join(_ROLE.sub(r"`\1`", _part(part)) for part in parts))
    return "\n\n".join(blocks)


def _part(text: str) -> str:
    text = re.sub(r"::$", ":", text.strip()).replace("``", "`")
    if field := _FIELD.match(text):
        words = " ".join(field["text"].split())
        kind, name = field["kind"], f"`{field['name']}`"
        lead = {"param": name, "ivar": name, "raises": f"raises {name}"}.get(kind, "returns")
        return f"- {lead}: {words}"
    return "" if text == ":" else " ".join(text.split()) if "\n- " not in text else text


MADE = {
    "api": api,
    "chart": chart,
    "commands": commands,
    "exceptions": exceptions,
    "table": table,
    "variables": variables,
}

if __name__ == "__main__":
    sys.exit(main())
