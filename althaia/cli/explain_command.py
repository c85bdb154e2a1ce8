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
from dataclasses import asdict

import althaia
from althaia.cli import Answer, application, target
from althaia.engine.explain import lines_of_readers
from althaia.switch.release import why_no_plans


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
    def explained() -> Answer:
        althaia.patch()
        return _schema(options) if ":" in options.schema else _application(options)

    return target.asked("the module", explained)


def _schema(options: argparse.Namespace) -> Answer:
    explanation = althaia.explain(target.schema(options.schema))
    left = explanation.no_plans or any(s.why or s.unresolved for s in explanation.steps())
    text = explanation.as_text(verbose=options.verbose, depth=options.depth)
    return int(bool(options.fail_on and left)), explanation.as_dict(), text


def _application(options: argparse.Namespace) -> Answer:
    lines = application.lines_of(options.schema)
    unplanned = sum(not line.is_planned for line in lines)
    head = f"{options.schema}: {len(lines)} {'schema' if len(lines) == 1 else 'schemas'}, "
    if why := why_no_plans():
        text = [f"{head}and no plans run: {why}"]
    else:
        from althaia.engine.objects import libraries

        text = [f"{head}{unplanned} with steps outside a plan", *(line.as_text() for line in lines)]
        text += lines_of_readers(libraries.status())
    data = [asdict(line) for line in lines]
    return int(bool(options.fail_on and unplanned)), data, "\n".join(text)
