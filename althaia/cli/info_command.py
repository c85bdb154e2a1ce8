"""Say what is installed here: versions, compiled or not, patched or not."""

from __future__ import annotations

import argparse
import json

import althaia
from althaia.switch import status


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--verbose",
        action="store_true",
        help="also all modules, and what holds of this interpreter's insides",
    )


def execute(options: argparse.Namespace) -> int:
    info = althaia.info()
    facts = status.interpreter_features() if options.verbose else {}
    if options.json:
        found = info.as_dict()
        if options.verbose:
            found["interpreter"] = facts
        print(json.dumps(found, indent=2))
        return 0
    print(info.as_text(verbose=options.verbose))
    if options.verbose:
        print("this interpreter" + ("" if facts else ": nothing is asked of it without plans"))
        for name, holds in facts.items():
            print(f"  {name:<36}{'yes' if holds else 'no'}")
    return 0
