"""What the command line means, by argparse: the commands with their options and help texts."""

from __future__ import annotations

from argparse import ArgumentParser
from argparse import RawDescriptionHelpFormatter as _AsItIs
from importlib import import_module
from shutil import get_terminal_size
from textwrap import dedent, fill
from types import ModuleType

import althaia
from althaia.cli import COMMANDS

_PROG = "python -m althaia"
_USAGE = """\
python -m althaia [run] SCRIPT [ARGUMENT ...]
       python -m althaia [run] -m MODULE [ARGUMENT ...]
       python -m althaia [run] -c CODE [ARGUMENT ...]
       python -m althaia COMMAND [OPTION ...]"""
_ABOUT = """\
Runs a program as Python itself would, with marshmallow redirected, in its child processes too. Or
one of the commands. 'python -m althaia COMMAND --help' says more.
"""


def module_of(command: str) -> ModuleType:
    """Import and return the module of one of :data:`althaia.cli.COMMANDS`."""
    return import_module(f"althaia.cli.{command}_command")


def parser(command: str) -> ArgumentParser:
    """Return the parser of a command, or with "" the one that has help about all of them."""
    if command:
        module = module_of(command)
        about = _wrapped(module.__doc__ or "")
        found = ArgumentParser(f"{_PROG} {command}", None, about, formatter_class=_AsItIs)
        module.configure(found)
        found.set_defaults(execute=module.execute)
        return found
    found = ArgumentParser(_PROG, _USAGE, _ABOUT)
    found.add_argument("--version", action="version", version=f"althaia {althaia.__version__}")
    under = found.add_subparsers(title="commands", prog=_PROG, metavar="COMMAND")
    for command in COMMANDS:
        under.add_parser(command, help=(module_of(command).__doc__ or "").partition("\n")[0])
    return found


def _wrapped(doc: str) -> str:
    """Wrap the paragraphs of a docstring for the terminal. Examples, indented, stay as they are."""
    width = get_terminal_size().columns - 2
    return "\n\n".join(
        each if each.startswith(" ") else fill(" ".join(each.split()), width)
        for each in dedent(doc).strip().split("\n\n")
    )
