"""Show how a schema is dumped and loaded: how much is planned, then each field and the reason.

The schema is named as package.module:Schema, where Schema is a schema class, an instance,
or a dotted path to one. The module is imported with marshmallow redirected.
"""

from __future__ import annotations

import argparse
import json
import sys

import althaia
from althaia.cli import target, tree


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("schema", metavar="MODULE:SCHEMA", help="e.g. shop.schemas:Order")
    parser.add_argument(
        "--verbose", action="store_true", help="also how instances are built and what is compared"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def execute(options: argparse.Namespace) -> int:
    althaia.patch()
    try:
        schema = target.resolve(options.schema)
        explanation = althaia.explain(schema)
    except (target.TargetError, TypeError) as error:
        print(f"python -m althaia explain: {error}", file=sys.stderr)
        return 2
    if options.json:
        print(json.dumps(explanation.as_dict(), indent=2))
    else:
        tree.show(explanation.as_text(verbose=options.verbose))
    return 0
