"""The bar that commands show on a terminal while something takes long."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

OnProgress = Callable[[float, str], object]


@contextmanager
def bar(total: float) -> Iterator[OnProgress]:
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
    with Progress(
        BarColumn(),
        TextColumn("{task.description}"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as progress:
        task = progress.add_task("", total=total)
        yield lambda done, text: progress.update(task, completed=done, description=text)
