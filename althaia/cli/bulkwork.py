"""The common part of ``check`` and ``convert``: options, progress, output of problems."""

import argparse
import json
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from althaia.bulk import BulkError, Partition, Problem, Summary
from althaia.bulk.reading import FORMS
from althaia.cli import Answer, CommandError
from althaia.cli.target import asked, resolve
from althaia.cli.terminal import bar
from althaia.switch import redirect

MOST_MESSAGES = 20
"""The most messages in the summary."""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of both commands."""
    add = parser.add_argument
    add("schema", help="package.module:Name of a schema class or instance")
    add("--format", choices=FORMS,
        help="of what is read; by default the file's name says it")  # fmt: skip
    add("--workers", type=int, default=1, metavar="N",
        help="processes of this machine; by default 1, this one")  # fmt: skip
    add("--dask", metavar="ADDRESS", help="let the workers of a cluster do it")
    add("--errors-to", metavar="FILE", help="each problem as a line of JSON")
    add("--empty", choices=("field", "text", "missing", "null"), default="field",
        help="what an empty cell of CSV means; by default a text where the field "
             "accepts an empty one, else no value; missing leaves nulls of "
             "Parquet out, too")  # fmt: skip
    add("--most-unpacked", type=int, metavar="BYTES",
        help="how large a .gz may become; by default 200 times its size, and "
             "64 MiB for a small one")  # fmt: skip
    add("--show", type=int, default=10, metavar="N",
        help="print the first N problems; by default 10")  # fmt: skip


def run(
    options: argparse.Namespace, files: list[str], job: Callable[..., Summary], *paths: object
) -> Answer:
    """Redirect marshmallow, resolve the schema and call ``job(schema, *paths, **parameters)``.

    The exit code is 0 if every record is valid, 1 if not, 2 if some are lost.

    :raises CommandError: the job failed
    """
    redirect.switch_on("python -m althaia")
    total = sum(os.path.getsize(file) for file in files if os.path.isfile(file))
    done = 0
    with _ended_by_signal() as go_on, bar(total) as show:

        def after(partition: Partition, summary: Summary) -> None:
            nonlocal done
            go_on()
            done += partition.share
            bad = summary.records - summary.valid
            show(done, f"{summary.records:,} records, {bad:,} not valid")

        try:
            summary = job(
                asked(options.schema, lambda: resolve(options.schema)),
                *paths,
                form=options.format,
                workers=options.workers,
                dask=options.dask,
                errors_to=options.errors_to,
                empty=options.empty,
                most_unpacked=options.most_unpacked,
                tell=_telling(0 if options.json else options.show),
                watch=after,
            )
        except BulkError as error:
            raise CommandError(str(error)) from error
    code = 2 if summary.lost else 0 if summary.good else 1
    return code, summary.as_dict(), "\n".join(_lines(summary))


ENDING = ("SIGINT", "SIGTERM", "SIGHUP")
"""Signals that end the work. SIGHUP (the terminal was closed) does not exist on Windows."""


@contextmanager
def _ended_by_signal() -> Iterator[Callable[[], None]]:
    """Raise KeyboardInterrupt with the signal in the block when one of ``ENDING`` arrives, so that
    unfinished files go.

    All later signals are ignored until the process ends. A signal that was ignored before stays
    ignored. Yields a function that raises the error again if a signal has arrived: user code may
    have caught the first one.
    """
    came: list[signal.Signals] = []
    before = {}

    def end(number: int, frame: object) -> None:
        came.append(signal.Signals(number))
        if len(came) == 1:
            go_on()

    def go_on() -> None:
        if came:
            raise KeyboardInterrupt(came[0])

    for name in ENDING:
        number = getattr(signal, name, None)
        # None means that the handler was not installed by Python.
        if number and signal.getsignal(number) not in (signal.SIG_IGN, None):
            before[number] = signal.signal(number, end)
    try:
        yield go_on
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_IGN if came else handler)


def _telling(most: int) -> Callable[[Problem], None]:
    """Return a function that prints the first problems as ``file:line: what is wrong``."""
    left = iter(range(most))

    def tell(problem: Problem) -> None:
        if next(left, None) is not None:
            said = problem.errors if isinstance(problem.errors, str) else json.dumps(problem.errors)
            print(f"{problem.file}:{problem.line}: {said}")

    return tell


def _lines(summary: Summary) -> Iterator[str]:
    counts = {"records": summary.records, "valid": summary.valid, "invalid": summary.invalid,
              "unreadable": summary.unreadable,
              "failed in the schema's own code": summary.exceptions}  # fmt: skip
    always = ("records", "valid")
    yield ", ".join(f"{n:,} {word}" for word, n in counts.items() if n or word in always)
    for text, count in summary.messages.most_common(MOST_MESSAGES):
        yield f"{count:>10,}  {text}"
    if len(summary.messages) > MOST_MESSAGES:
        yield f"{'':>12}and {len(summary.messages) - MOST_MESSAGES:,} other messages"
    yield from (f"not done: {text}" for text in summary.lost)
