"""Asks both libraries the same, each in a process of its own: for ``bench`` and ``compare``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import ExitStack
from typing import Any

from althaia.cli import CommandError
from althaia.cli.terminal import Watch
from althaia.trust.differences import Difference, first_difference_of_written

SIDES = ("marshmallow", "althaia")
_ENDED = '{"failed": "its process ended"}'
_OURS = {f"ALTHAIA_{each}" for each in
         ("PATCH", "DISABLE", "COMPARE", "COMPARE_FILE", "STRICT", "NOTES")}  # fmt: skip
Differences = dict[str, Difference]
"""By name of the call."""


class Process:
    """One library's process.

    :param side: one of :data:`SIDES`
    :ivar given: what it says of its data
    :raises CommandError: the schema cannot be imported there
    """

    def __init__(self, side: str, schema: str, plan_at_once: bool) -> None:
        self.side = side
        self.given: dict[str, Any] = {}
        environment = {k: v for k, v in os.environ.items() if k not in _OURS}
        # Both processes must iterate over sets in the same order.
        environment["PYTHONHASHSEED"] = "0"
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
        patched = side == "althaia"
        if not patched:
            # The schema's own module may call patch().
            environment["ALTHAIA_DISABLE"] = "1"
        self._process = subprocess.Popen(
            [sys.executable, "-m", "althaia.cli.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
            # Ctrl-C on a terminal is this process's to handle: it ends the other one.
            process_group=0 if os.name == "posix" else None,
        )
        try:
            self.ask("start", schema=schema, patched=patched, plan_at_once=plan_at_once)
        except KeyboardInterrupt:  # It may have come to this process alone.
            self.close()
            raise

    def ask(self, do: str, **details: Any) -> Any:
        """Return the answer to a command; CommandError if it failed."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        try:
            stdin.write(json.dumps({"do": do, **details}) + "\n")
            stdin.flush()
            line = stdout.readline() or _ENDED
        except BrokenPipeError:
            line = _ENDED
        said = json.loads(line)
        if isinstance(said, dict) and "failed" in said:
            self.close()
            raise CommandError(f"with {self.side}: {said['failed']}")
        return said

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


class Pair:
    """Both libraries' processes, which have the same data.

    :param stack: what ends them
    :param schema: ``package.module:Name``
    :param data: the command that gets the data, ``do``, and its parameters
    :raises CommandError: the schema or the data are not there
    """

    def __init__(
        self, stack: ExitStack, schema: str, *, plan_at_once: bool = False, **data: Any
    ) -> None:
        self._stack, self._schema, self._at_once, self._data = stack, schema, plan_at_once, data
        self.upstream, self.planned = map(self._start, SIDES)

    def _start(self, side: str) -> Process:
        process = Process(side, self._schema, self._at_once)
        self._stack.callback(process.close)
        process.given = process.ask(**self._data)
        return process

    def judge(
        self, calls: dict[str, Any], watch: Watch = lambda done, name: None
    ) -> tuple[Differences, Differences, dict[str, str]]:
        """Let both libraries make the same calls and compare their answers one by one.

        :param calls: the command that says which, ``do``, and its parameters
        :param watch: called after each call
        :return: what althaia answers differently, what marshmallow answers differently in a second
            process, and what each call raised by plans, "" if nothing
        """
        sides = (self.planned, self.upstream)
        names, _ = (side.ask(**calls)["names"] for side in sides)
        different: Differences = {}
        unsteady: Differences = {}
        theirs, raised = {}, {}
        for done, name in enumerate(names, 1):
            mine, yours = (side.ask("answer", name=name) for side in sides)
            raised[name] = mine["raised"]
            if found := first_difference_of_written(mine["answer"], yours["answer"]):
                different[name], theirs[name] = found, yours["answer"]
            watch(done, name)
        if different:
            # Only then, because it takes as long as the first time.
            again = self._start("marshmallow")
            again.ask(**calls)
            for name in names:
                answer = again.ask("answer", name=name)["answer"]
                if name in theirs and (found := first_difference_of_written(theirs[name], answer)):
                    unsteady[name] = found
                    del different[name]
        return different, unsteady, raised


def sentence(difference: Difference, *, steady: bool = True) -> str:
    """Say what differs, for people.

    :param steady: whether marshmallow gives its answer again
    """
    one, other = difference.planned, difference.upstream
    what = (
        f"{one} by althaia, {other} by marshmallow"
        if steady
        else f"not deterministic, marshmallow gave {one} and then {other}"
    )
    return f"{difference.path or 'the result itself'}: {what}"
