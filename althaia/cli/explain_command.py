"""Show how a schema is dumped and loaded: how much is planned, then each field and the reason.

The schema is named as package.module:Schema, where Schema is a schema class, an instance,
or a dotted path to one. The module is imported with marshmallow redirected.

A module or package alone (package.module) is shown with one line a schema class, worst first:
how many of the steps of both directions, nested schemas' included, run outside a plan, and which;
and why its instances are built in full, where they are.
With --fail-on unplanned the exit code is 1 where there are any: for continuous integration.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import asdict
from typing import TypeVar

import althaia
from althaia.cli import Answer, CommandError, application, target
from althaia.engine.explain import lines_of_readers
from althaia.switch.release import why_no_plans

_T = TypeVar("_T")


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("schema", metavar="MODULE[:SCHEMA]", help="e.g. shop.schemas:Order, or shop.schemas")
    add("--verbose", action="store_true", help="also what is compared before each call")
    add(
        "--depth",
        type=int,
        default=2,
        help="how many levels of nested schemas are shown; by default 2, each schema once",
    )
    add("--json", action="store_true", help="print JSON")
    add(
        "--fail-on",
        choices=["unplanned"],
        help="unplanned: exit with 1 where a step runs outside a plan",
    )


def execute(options: argparse.Namespace) -> Answer:
    return _schema(options) if ":" in options.schema else _application(options)


def _schema(options: argparse.Namespace) -> Answer:
    explanation = _asked(lambda: althaia.explain(target.resolve(options.schema)))
    line = application.line_of_explained(options.schema, explanation)
    text = explanation.as_text(verbose=options.verbose, depth=options.depth)
    return int(bool(options.fail_on) and not line.is_planned), explanation.as_dict(), text


def _application(options: argparse.Namespace) -> Answer:
    lines = _asked(lambda: application.lines_of(options.schema))
    unplanned = sum(not line.is_planned for line in lines)
    text = [f"{options.schema}: {len(lines)} {'schema' if len(lines) == 1 else 'schemas'}, "]
    if why := why_no_plans():
        text[0] += f"and no plans run: {why}"
    else:
        text[0] += f"{unplanned} with steps outside a plan"
        from althaia.engine.objects import libraries

        text += [*(line.as_text() for line in lines), *lines_of_readers(libraries.status())]
    return (
        int(bool(options.fail_on and unplanned)),
        [asdict(line) for line in lines],
        "\n".join(text),
    )


def _asked(ask: Callable[[], _T]) -> _T:
    """Patch, import the user's modules and return the explanation.

    :raises CommandError: there is nothing to explain
    """

    def patched() -> _T:
        althaia.patch()
        try:
            return ask()
        except TypeError as error:  # It is no schema.
            raise CommandError(str(error)) from error

    return target.asked("the module", patched)
