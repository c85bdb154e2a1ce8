"""Run a program and show where the time of its dumps and loads went.

The program runs as by python -m althaia, with its own exit code. At its end the profile is written
to standard error, or to a file. What the columns mean:
https://github.com/dsimidzija/python-althaia/blob/main/docs/profile.md

With --estimate it says instead what the program takes with and without althaia: some of its calls
are made four times more, by plans and by marshmallow's own code, and your code in them runs then.
"""

from __future__ import annotations

import argparse
import atexit
import json
import os
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import althaia
from althaia.cli import run, writable
from althaia.switch.config import settings
from althaia.switch.release import why_no_plans
from althaia.trust.estimate import Estimate
from althaia.trust.profile import profile

if TYPE_CHECKING:
    from althaia.trust.profile import Profile


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--estimate", action="store_true", help="say what althaia saves; measure both libraries")
    add("--output", metavar="FILE", help="write there, not to standard error")
    rest = argparse.REMAINDER
    add("-m", dest="module", nargs=rest, metavar="MODULE", help="run a module")
    add("-c", dest="code", nargs=rest, metavar="CODE", help="run code")
    add("script", nargs=rest, metavar="SCRIPT", help="a script, its arguments")


def execute(options: argparse.Namespace) -> int:
    words = list(options.script)
    if options.module is not None:
        words = ["-m", *options.module]
    elif options.code is not None:
        words = ["-c", *options.code]
    if options.output:
        try:
            open(options.output, "ab").close()
        except OSError as error:
            return run.refuse(f"{options.output}: cannot be written: {error.strerror}")
        # The program may change the folder.
        options.output = os.path.abspath(options.output)
    if options.estimate:
        if settings().disable or settings().compare:
            return run.refuse("--estimate runs both libraries: unset ALTHAIA_DISABLE, _COMPARE")
        if why := why_no_plans():
            return run.refuse(f"there is nothing to estimate: {why}")
    stack = ExitStack()

    def begin() -> None:
        result: Profile | Estimate
        if options.estimate:
            # Upstream's own code is to run as it does without althaia.
            althaia.patch(compiled=False)
            result = Estimate()
        else:
            result = stack.enter_context(profile())
        # By then a traceback has been shown and the program's threads have ended.
        atexit.register(_show, result, options)
        atexit.register(stack.close)

    return run.execute(words, begin)


def _show(result: Profile | Estimate, options: argparse.Namespace) -> None:
    if isinstance(result, Estimate) and result.has_forked and not result.lines:
        return  # The workers tell.
    text = json.dumps(result.as_dict(), indent=2) if options.json else result.as_text()
    if options.output:
        Path(options.output).write_text(text + "\n", "utf-8")
    else:
        print(writable(text, sys.stderr), file=sys.stderr)
