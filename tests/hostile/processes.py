"""Run a program in a process of its own: a crash there is a failed test here."""

import json
import os
import platform
import signal
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.redirect import processes

ROOT = Path(__file__).parents[2]
OURS = ("plans", "no plans")


@dataclass(frozen=True)
class Outcome:
    """What a program reported, and how it ended."""

    results: dict[str, Any]
    tried_last: str | None
    exit_code: int
    stderr: str

    def of(self, what):
        """The result of one thing tried."""
        if what not in self.results:
            end = self.signal or f"exit code {self.exit_code}"
            raise AssertionError(
                f"no result for {what!r}: the process ended with {end} while trying "
                f"{self.tried_last!r}\n{self.stderr[-3000:]}"
            )
        return self.results[what]

    @property
    def signal(self):
        """The name of the signal that ended the process, if one did."""
        return signal.Signals(-self.exit_code).name if self.exit_code < 0 else None

    def check(self):
        """Insist that the process came to its end."""
        assert self.exit_code == 0, (
            f"ended with {self.exit_code} while trying {self.tried_last!r}\n{self.stderr[-3000:]}"
        )


def skip_where_the_interpreter_crashes(job):
    """Skip a test where CPython alone, without marshmallow, is ended by a signal, or by an error
    about itself: 3.13 without the GIL sometimes makes no closures once memory was short."""
    alone = run("interpreter", "none", job)
    *_, last = ["", *alone.stderr.splitlines()]
    ended_by = alone.signal or (last if last.startswith("SystemError: ") else None)
    if ended_by:
        version = platform.python_version()
        pytest.skip(f"{version} alone, without marshmallow: {ended_by} with {job}")
    alone.check()


def run_side_by_side(program, libraries, *words, timeout):
    """:func:`run` for several libraries at once, for what counts its own CPU time only."""
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        found = threads.map(lambda each: run(program, each, *words, timeout=timeout), libraries)
        return dict(zip(libraries, found, strict=True))


@cache
def run(program, library, *words, timeout=300):
    """Run ``tests.hostile.programs.<program>`` once for all the tests that look at it."""
    environment = dict.fromkeys((k for k in os.environ if k.startswith("ALTHAIA_")), "")
    environment["ALTHAIA_PLANS"] = "0" if library == "no plans" else "1"
    module = f"tests.hostile.programs.{program}"
    words = "-X", "faulthandler", "-m", module, library, *words
    done = processes.run(*words, cwd=ROOT, env=environment, timeout=timeout)
    results = {}
    tried = None
    for line in done.stdout.splitlines():
        what, *result = json.loads(line)
        tried = what
        if result:
            results[what] = result[0]
    return Outcome(results, tried, done.returncode, done.stderr)
