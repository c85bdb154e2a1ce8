"""What the commands show on a terminal: tables, and a bar while something takes long."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

Watch = Callable[[float, str], object]


def table(rows: Sequence[Sequence[str]]) -> str:
    """Return rows of cells with aligned columns. All columns but the first are right-aligned.

    >>> print(table([["work", "ratio"], ["dump 1", "12.0"]]))
    work    ratio
    dump 1   12.0
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        f"{row[0]:<{widths[0]}}"
        + "".join(f"  {cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True))
        for row in rows
    )
    return "\n".join(map(str.rstrip, lines))


@contextmanager
def bar(total: float) -> Iterator[Watch]:
    """Show a progress bar on standard error if that is a terminal and rich is installed.

    Yields a function to call with how much is done and a text.
    """
    try:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
    except ModuleNotFoundError:
        yield lambda done, text: None
        return
    console = Console(stderr=True)
    columns = (BarColumn(), TextColumn("{task.description}"), TimeRemainingColumn())
    shown = console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=not shown) as progress:
        task = progress.add_task("", total=total)
        yield lambda done, text: progress.update(task, completed=done, description=text)
