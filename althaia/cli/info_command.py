"""Say what is installed here: versions, compiled or not, patched or not."""

import argparse

import althaia
from althaia.cli import Answer
from althaia.switch import status


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--verbose",
        action="store_true",
        help="also all modules, and what holds of this interpreter's insides",
    )


def execute(options: argparse.Namespace) -> Answer:
    info = althaia.info()
    if not options.verbose:
        return 0, info.as_dict(), info.as_text()
    facts = status.interpreter_features()
    lines = [f"  {name:<36}{'yes' if holds else 'no'}" for name, holds in facts.items()]
    head = "this interpreter" + ("" if facts else ": nothing is asked of it without plans")
    text = "\n".join([info.as_text(verbose=True), head, *lines])
    return 0, info.as_dict() | {"interpreter": facts}, text
