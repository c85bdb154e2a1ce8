"""``python -m althaia …``: one module here for each command, ``explain_command`` for ``explain``.

A command module has a docstring, whose first line is its help, and two functions; all commands
have ``--json``::

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
from io import TextIOWrapper

from althaia.switch.redirect import REFUSALS

TYPE_CHECKING = False

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Sequence
    from types import ModuleType

Answer = tuple[int, object, str]
"""The exit code (True is 1), the data for ``--json``, and the text."""

COMMANDS = ("bench", "check", "compare", "convert", "doctor", "explain", "info", "profile")
"""The commands that are parsed by argparse."""

_USAGE = """\
python -m althaia [run] SCRIPT [ARGUMENT ...]
       python -m althaia [run] -m MODULE [ARGUMENT ...]
       python -m althaia [run] -c CODE [ARGUMENT ...]
       python -m althaia COMMAND [OPTION ...]"""
_ABOUT = """\
Runs a program as Python itself would, with marshmallow redirected, in its child processes too. Or
one of the commands. 'python -m althaia COMMAND --help' says more.
"""


class CommandError(Exception):
    """A command cannot do what it was asked for. The message is shown to the user."""


def start() -> None:
    """Run the command line of this process; return at its end if all went well.

    A program that ends by itself must leave nothing behind, not even a ``SystemExit(0)``,
    which ``python -i`` would show.

    :raises SystemExit: with the exit code, where it is not 0.
    """
    if not sys.flags.safe_path:
        sys.path[0] = os.getcwd()  # A console script has its own folder there.
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
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # Its encoding may lack characters.
    code = 2
    try:
        code = _executed(command, words)
        # Nothing happens where the descriptor is closed: sys.stdout is None.
        print(end="", flush=True)
    except KeyboardInterrupt as error:
        from signal import SIGINT, Signals

        number = next((each for each in error.args if isinstance(each, Signals)), SIGINT)
        print(f"{prog}: ended by {number.name}", file=sys.stderr)
        return 128 + int(number)
    except (CommandError, *REFUSALS) as error:
        print(f"{prog}: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        # Other files that cannot be written are the business of the commands.
        if error.filename is not None:
            raise
        _discard()
        if not isinstance(error, BrokenPipeError):
            print(f"{prog}: standard output cannot be written: {error.strerror}", file=sys.stderr)
            return 2
    return code


def _discard() -> None:
    """Let what is still in the buffer go to a device that takes everything: the interpreter
    flushes it at its exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _executed(command: str, words: list[str]) -> int:
    """Execute a command, print its answer and return its exit code.

    :raises CommandError: it cannot do what it was asked for
    """
    from json import dumps

    known = parser_of(command)
    if not (command or words):
        known.print_help(sys.stderr)
        return 2
    try:
        options = known.parse_args(words)
    except SystemExit as ended:  # --help, or what is wrong with the words, which was printed.
        return int(ended.code or 0)
    answer = options.execute(options)
    if isinstance(answer, int):
        return answer
    code, data, text = answer
    try:
        print(dumps(data, indent=2) if options.json else writable(text, sys.stdout), flush=True)
    except BrokenPipeError:  # A reader such as head has what it wanted.
        _discard()
    return int(code)


def writable(text: str, stream: object) -> str:
    """Return a text in ASCII if the stream cannot write its signs."""
    try:
        text.encode(getattr(stream, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return text.translate({ord(sign): word for sign, word in zip("µ×–…", "ux-.", strict=True)})
    return text


def module_of(command: str) -> ModuleType:
    """Import and return the module of one of :data:`COMMANDS`."""
    return import_module(f"{__name__}.{command}_command")


def parser_of(command: str) -> ArgumentParser:
    """Return the parser of a command, or with "" the one that has help about all of them."""
    from argparse import ArgumentParser, RawDescriptionHelpFormatter

    import althaia

    prog = "python -m althaia"
    if command:
        module = module_of(command)
        found = ArgumentParser(
            f"{prog} {command}",
            description=_wrapped(module.__doc__ or ""),
            formatter_class=RawDescriptionHelpFormatter,
        )
        found.add_argument("--json", action="store_true", help="print JSON instead of text")
        module.configure(found)
        found.set_defaults(execute=module.execute)
        return found
    found = ArgumentParser(prog, _USAGE, _ABOUT)
    found.add_argument("--version", action="version", version=f"althaia {althaia.__version__}")
    under = found.add_subparsers(title="commands", prog=prog, metavar="COMMAND")
    for each in COMMANDS:
        under.add_parser(each, help=(module_of(each).__doc__ or "").partition("\n")[0])
    return found


def _wrapped(doc: str) -> str:
    """Wrap the paragraphs of a docstring for the terminal. Examples, indented, stay as they are."""
    from shutil import get_terminal_size
    from textwrap import fill

    width = max(1, get_terminal_size().columns - 2)
    return "\n\n".join(
        each if each.startswith(" ") else fill(" ".join(each.split()), width)
        for each in doc.split("\n\n")
    )
