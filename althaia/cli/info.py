"""Say what is installed here: versions, compiled or not, patched or not."""

from __future__ import annotations

import argparse
import json

import althaia


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def execute(options: argparse.Namespace) -> int:
    info = althaia.info()
    print(json.dumps(info.as_dict(), indent=2) if options.json else info.as_text())
    return 0
