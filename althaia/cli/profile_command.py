"""Run a program and show where the time of its dumps and loads went.

The program runs as by python -m althaia, with its own exit code. At its end the profile is written
to standard error, or to a file. What the columns mean:
https://github.com/dsimidzija/python-althaia/blob/main/docs/profile.md

With ALTHAIA_DISABLE=1 the program runs on the real marshmallow, and the profile ends with what
althaia would save, by the measured ratios of the most expensive schemas.
"""

from __future__ import annotations

import argparse
import atexit
import json
import sys
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from althaia.cli import run
from althaia.cli.estimate import estimate
from althaia.switch.config import settings
from althaia.trust.profile import profile

if TYPE_CHECKING:
    from althaia.trust.profile import Profile


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="write JSON instead of tables")
    parser.add_argument("--output", metavar="FILE", help="write there, not to standard error")
    parser.add_argument("--html", metavar="FILE", help="also write a page with bars")
    rest = argparse.REMAINDER
    parser.add_argument("-m", dest="module", nargs=rest, metavar="MODULE", help="run a module")
    parser.add_argument("-c", dest="code", nargs=rest, metavar="CODE", help="run code")
    parser.add_argument("script", nargs=rest, metavar="SCRIPT", help="a script, its arguments")


def execute(options: argparse.Namespace) -> int:
    words = list(options.script)
    if options.module is not None:
        words = ["-m", *options.module]
    elif options.code is not None:
        words = ["-c", *options.code]
    stack = ExitStack()

    def begin() -> None:
        result = stack.enter_context(profile())
        # By then a traceback has been shown and the program's threads have ended.
        atexit.register(_show, stack, result, options)

    return run.execute(words, begin)


def _show(stack: ExitStack, result: Profile, options: argparse.Namespace) -> None:
    stack.close()
    found, text = result.as_dict(), result.as_text()
    if settings().disable and result.lines:
        saved = estimate(result)
        found["estimate"] = asdict(saved)
        text = "\n".join((text, "", *saved.lines()))
    if options.json:
        text = json.dumps(found, indent=2)
    if options.html:
        Path(options.html).write_text(result.as_html(), "utf-8")
    if options.output:
        Path(options.output).write_text(text + "\n", "utf-8")
    else:
        print(text, file=sys.stderr)
