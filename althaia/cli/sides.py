"""Asks both libraries the same, each in a process of its own: for ``bench`` and ``compare``."""

import argparse
import json
import os
import subprocess
import sys
from contextlib import ExitStack, suppress
from functools import partial
from os.path import abspath
from typing import Any

from althaia.cli import CommandError
from althaia.cli.terminal import OnProgress
from althaia.trust.differences import Difference, first_difference_of_written

_ENDED = '{"failed": "its process ended"}'
_OURS = ("ALTHAIA_PATCH", "ALTHAIA_COMPARE", "ALTHAIA_COMPARE_FILE", "ALTHAIA_NOTES")
Differences = dict[str, Difference]
"""By name of the call."""


def add_data(parser: argparse.ArgumentParser, option: str) -> None:
    """Add the option that names objects of the user's, and the one that names a file instead."""
    what = "objects to dump, or a function that returns them; it may take their number"
    add = parser.add_mutually_exclusive_group().add_argument
    add(option, metavar="MODULE:NAME", help=what)
    add("--data", type=abspath, metavar="FILE", help="records, .json, .jsonl or .ndjson")


class Process:
    """One library's process.

    :param stack: what ends it
    :param side: "marshmallow" or "althaia"
    :param given: the schema, how it is used and on which data
    :ivar given: what it says of its data
    :raises CommandError: the schema or the data are not there
    """

    def __init__(self, stack: ExitStack, side: str, **given: Any) -> None:
        self.side = side
        patched = side == "althaia"
        environment = {
            **os.environ,
            **dict.fromkeys(_OURS, ""),
            # The schema's own module may call patch().
            "ALTHAIA_DISABLE": "" if patched else "1",
            # Both processes must iterate over sets in the same order.
            "PYTHONHASHSEED": "0",
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        }
        self._process = subprocess.Popen(
            [sys.executable, "-m", "althaia.cli.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
            # Ctrl-C on a terminal is this process's to handle: it ends the other one.
            process_group=0 if os.name == "posix" else None,
        )
        stack.callback(self._process.communicate)
        stack.callback(self._process.kill)
        self.given = self.ask("start", patched=patched, **given)

    def ask(self, do: str, **details: Any) -> Any:
        """Return the answer to a command; CommandError if it failed."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        with suppress(BrokenPipeError):
            stdin.write(json.dumps({"do": do, **details}) + "\n")
            stdin.flush()
        said = json.loads(stdout.readline() or _ENDED)
        if isinstance(said, dict) and "failed" in said:
            raise CommandError(f"with {self.side}: {said['failed']}")
        return said


class Pair:
    """Both libraries' processes, which have the same data and make the same calls.

    :param stack: what ends them
    :param given: the parameters of :meth:`althaia.cli.worker.Side.start`
    :ivar calls: their names
    :raises CommandError: the schema or the data are not there
    """

    def __init__(self, stack: ExitStack, **given: Any) -> None:
        self._again = partial(Process, stack, "marshmallow", **given)
        self.upstream = self._again()
        self.planned = Process(stack, "althaia", **given)
        theirs = self.upstream.given["calls"]
        self.calls = [name for name in self.planned.given["calls"] if name in theirs]

    def judge(
        self, watch: OnProgress = lambda done, name: None
    ) -> tuple[Differences, Differences, dict[str, str]]:
        """Let both libraries make the calls and compare their answers one by one.

        :param watch: called after each call
        :return: what althaia answers differently, what marshmallow answers differently in a second
            process, and what each call raised by plans, "" if nothing
        """
        different: Differences = {}
        unsteady: Differences = {}
        theirs, raised = {}, {}
        for done, name in enumerate(self.calls, 1):
            mine, yours = (side.ask("answer", name=name) for side in (self.planned, self.upstream))
            raised[name] = mine["raised"]
            if found := first_difference_of_written(mine["answer"], yours["answer"]):
                different[name], theirs[name] = found, yours["answer"]
            watch(done, name)
        if different:
            # Only then, because it takes as long as the first time.
            again = self._again()
            for name in self.calls:
                answer = again.ask("answer", name=name)["answer"]
                if name in theirs and (found := first_difference_of_written(theirs[name], answer)):
                    unsteady[name] = found
                    del different[name]
        return different, unsteady, raised


def sentence(path: str, one: str, other: str, *, steady: bool) -> str:
    """Say what differs, for people.

    :param steady: whether marshmallow gives its answer again
    """
    where = path or "the result itself"
    if steady:
        return f"{where}: {one} by althaia, {other} by marshmallow"
    return f"{where}: not deterministic, marshmallow gave {one} and then {other}"
