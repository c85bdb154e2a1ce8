"""``python -m althaia …``: one module here for each command, ``explain_command`` for ``explain``.

A command module has a docstring, whose first line is its help, and two functions::

    def configure(parser: argparse.ArgumentParser) -> None: ...
    def execute(options: argparse.Namespace) -> Answer: ...

and its name in :data:`COMMANDS`. ``profile`` prints at the end of the process and returns the exit
code alone. ``run`` is the exception: it takes the command line as it
is, because everything behind the program's name belongs to the program.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import ModuleType
    from typing import TextIO

Answer = tuple[int, object, str]
"""The exit code, the data for ``--json``, and the text."""

COMMANDS = ("bench", "check", "compare", "convert", "doctor", "explain", "info", "profile")
"""The commands that are parsed by argparse."""

_RUN = """\
usage: python -m althaia [run] SCRIPT [ARGUMENT ...]
       python -m althaia [run] -m MODULE [ARGUMENT ...]
       python -m althaia [run] -c CODE [ARGUMENT ...]
"""
_RUNS = """
Runs a program as Python itself would, with marshmallow redirected, in its child
processes too."""


class CommandError(Exception):
    """A command cannot do what it was asked for. The message is shown to the user."""


def start() -> None:
    """Run the command line of this process; return at its end if all went well.

    A program that ends by itself must leave nothing behind, not even a ``SystemExit(0)``,
    which ``python -i`` would show.

    :raises SystemExit: with the exit code, where it is not 0.
    """
    code = main()
    if code:
        raise SystemExit(code)


def to_nowhere(stream: TextIO) -> None:
    """Redirect a stream whose reader has closed the pipe to the null device.

    Otherwise the interpreter would try to flush the buffer at its exit, and print an error.
    """
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def _printing(what: str, work: Callable[[], int]) -> int:
    """Do work that prints. Return its exit code, or 2 if nobody reads or nothing can be written.

    :param what: what could not be done, for the message
    """
    if sys.stdout is None:  # The descriptor is closed. The next file that is opened would get it.
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    try:
        code = work()
        sys.stdout.flush()
    except OSError as error:
        # Other files that cannot be written are the business of the commands.
        if error.filename is not None:
            raise
        to_nowhere(sys.stdout)
        if not isinstance(error, BrokenPipeError):
            _complain(f"{what}: standard output cannot be written: {error.strerror}")
        return 2
    return code


def _complain(text: str) -> None:
    """Print an error. If standard error cannot be written, only the exit code reports it."""
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:
        to_nowhere(sys.stderr)


def _print(text: str) -> int:
    return _printing("python -m althaia", lambda: print(text) or 0)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code.

    :param arguments: the words behind ``python -m althaia``; by default those of ``sys.argv``.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words or words[0] in ("-h", "--help"):
        if words:
            return _print(_help())
        print(_help(), file=sys.stderr)
        return 2
    if words[0] == "--version":
        import althaia

        return _print(f"althaia {althaia.__version__}")
    if words[0] == "run" and words[1:2] in (["-h"], ["--help"]):
        return _print(_RUN + _RUNS)
    if words[0] in COMMANDS:
        return _execute(words[0], words[1:])
    # The program must not find modules in sys.modules that it did not import.
    from althaia.cli import run

    return run.execute(words[1:] if words[0] == "run" else words)


def module_of(command: str) -> ModuleType:
    """Import and return the module of one of :data:`COMMANDS`."""
    return import_module(f"{__name__}.{command}_command")


def _execute(command: str, words: list[str]) -> int:
    prog = f"python -m althaia {command}"
    try:
        from argparse import ArgumentParser

        from althaia.cli.wrapping import Wrapping
        from althaia.switch.redirect import REFUSALS

        module = module_of(command)
        parser = ArgumentParser(prog, description=module.__doc__, formatter_class=Wrapping)
        module.configure(parser)
        try:
            options = parser.parse_args(words)
        except SystemExit as ended:  # --help, or what is wrong with the words, which was printed.
            code = int(ended.code or 0)
            return _printing(prog, lambda: code)
        if command != "profile":  # What the program raises is its own.
            return _printing(prog, lambda: _answered(module.execute(options), options.json))
    except KeyboardInterrupt as error:
        from signal import SIGINT

        number = getattr(error, "signal", SIGINT)
        _complain(f"{prog}: ended by {number.name}")
        return 128 + int(number)
    except (CommandError, *REFUSALS) as error:
        _complain(f"{prog}: {error}")
        return 2
    return int(module.execute(options))


def _answered(answer: Answer, as_json: bool) -> int:
    from json import dumps

    code, data, text = answer
    print(dumps(data, indent=2) if as_json else text)
    return code


def _help() -> str:
    from shutil import get_terminal_size
    from textwrap import fill

    width = max(get_terminal_size().columns - 2, 40)
    lines = [f"{_RUN}       python -m althaia COMMAND [OPTION ...]"]
    lines.append(f"{_RUNS} Or one of the commands:\n")
    for command in COMMANDS:
        doc = module_of(command).__doc__ or ""
        line = f"  {command:<10}{doc.partition(chr(10))[0]}"
        lines.append(fill(line, width, subsequent_indent=" " * 12))
    lines.append("\n'python -m althaia COMMAND --help' says more.")
    return "\n".join(lines)
