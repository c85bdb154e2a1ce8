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

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TextIO

Answer = tuple[int, object, str]
"""The exit code, the data for ``--json``, and the text."""

COMMANDS = ("bench", "check", "compare", "convert", "doctor", "explain", "info", "profile")
"""The commands that are parsed by argparse."""


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


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code.

    :param arguments: the words behind ``python -m althaia``; by default those of ``sys.argv``.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words[:1] == ["run"] and words[1:2] in (["-h"], ["--help"]):
        words = words[1:]
    if words and words[0] not in (*COMMANDS, "-h", "--help", "--version"):
        # The program must not find modules in sys.modules that it did not import.
        from althaia.cli import run

        return run.execute(words[1:] if words[0] == "run" else words)
    command = words.pop(0) if words and words[0] in COMMANDS else ""
    if command == "profile":  # What its program raises is the program's own.
        return _executed(command, words)
    prog = f"python -m althaia {command}".rstrip()
    try:
        code = _executed(command, words)
        # Nothing happens where the descriptor is closed: sys.stdout is None.
        print(end="", flush=True)
    except KeyboardInterrupt as error:
        from signal import SIGINT, Signals

        number = next((each for each in error.args if isinstance(each, Signals)), SIGINT)
        _complain(f"{prog}: ended by {number.name}")
        return 128 + int(number)
    except CommandError as error:
        _complain(f"{prog}: {error}")
        return 2
    except OSError as error:
        # Other files that cannot be written are the business of the commands.
        if error.filename is not None:
            raise
        _to_nowhere(sys.stdout)
        if not isinstance(error, BrokenPipeError):
            _complain(f"{prog}: standard output cannot be written: {error.strerror}")
        return 2
    return code


def _executed(command: str, words: list[str]) -> int:
    """Execute a command, print its answer and return its exit code.

    :raises CommandError: it cannot do what it was asked for
    """
    from json import dumps

    from althaia.cli.parser import parser
    from althaia.switch.redirect import REFUSALS

    known = parser(command)
    if not (command or words):
        known.print_help(sys.stderr)
        return 2
    try:
        options = known.parse_args(words)
    except SystemExit as ended:  # --help, or what is wrong with the words, which was printed.
        return int(ended.code or 0)
    try:
        answer = options.execute(options)
    except REFUSALS as error:
        raise CommandError(str(error)) from error
    if isinstance(answer, int):
        return answer
    code, data, text = answer
    print(dumps(data, indent=2) if options.json else text)
    return int(code)


def _to_nowhere(stream: TextIO) -> None:
    """Redirect a stream whose reader has closed the pipe to the null device.

    Otherwise the interpreter would try to flush the buffer at its exit, and print an error.
    """
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def _complain(text: str) -> None:
    """Print an error. If standard error cannot be written, only the exit code reports it."""
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:
        _to_nowhere(sys.stderr)
