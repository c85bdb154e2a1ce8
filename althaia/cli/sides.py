"""Asks both libraries the same, each in a process of its own: for ``bench`` and ``compare``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, NamedTuple

from althaia.cli import CommandError
from althaia.cli.terminal import Watch
from althaia.trust.differences import Difference
from althaia.trust.portable import first_difference

SIDES = ("marshmallow", "althaia")
_ENDED = '{"failed": "its process ended"}'


class Process:
    """One library's process.

    :param side: one of :data:`SIDES`
    :ivar given: what it says of its data
    :ivar said: its last answer
    :raises CommandError: the schema cannot be imported there
    """

    def __init__(self, side: str, schema: str, *, plan_at_once: bool = False) -> None:
        self.side = side
        self.given: dict[str, Any] = {}
        self.said: dict[str, Any] = {}
        ours = ("PATCH", "DISABLE", "COMPARE", "COMPARE_FILE", "STRICT", "NOTES")
        dropped = {f"ALTHAIA_{name}" for name in ours}
        environment = {k: v for k, v in os.environ.items() if k not in dropped}
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

    def ask(self, do: str, **details: Any) -> dict[str, Any]:
        """Return the answer to a command; CommandError if it failed."""
        for _ in self.lines(do, **details):
            pass
        return self.said

    def lines(self, do: str, **details: Any) -> Iterator[str]:
        """Yield a line for each call that a command makes: the call's name and its result, as JSON.

        :raises CommandError: the command failed
        """
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        try:
            stdin.write(json.dumps({"do": do, **details}) + "\n")
            stdin.flush()
            while (line := stdout.readline() or _ENDED)[0] == "[":
                yield line
        except BrokenPipeError:
            line = _ENDED
        self.said = json.loads(line)
        if "failed" in self.said:
            self.close()
            raise CommandError(f"with {self.side}: {self.said['failed']}")

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


class Found(NamedTuple):
    """The first difference of two answers to a call."""

    call: str
    difference: Difference


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
        process = Process(side, self._schema, plan_at_once=self._at_once)
        self._stack.callback(process.close)
        process.given = process.ask(**self._data)
        return process

    def judge(
        self, do: str, watch: Watch = lambda done, name: None, **details: Any
    ) -> tuple[dict[int, Found], dict[int, Found]]:
        """Let both libraries make the same calls and compare their answers one by one.

        :param watch: called after each call
        :return: by number of the call, what althaia answers differently, and what marshmallow
            answers differently in a second process
        """
        theirs: dict[int, str] = {}
        different, unsteady = {}, {}
        both = (side.lines(do, **details) for side in (self.planned, self.upstream))
        for number, (mine, yours) in enumerate(zip(*both, strict=True)):
            if found := _difference(mine, yours):
                different[number], theirs[number] = found, yours
            watch(number + 1, "")
        # Ask marshmallow again only if there are differences: it takes as long as the first time.
        again = self._start("marshmallow").lines(do, **details) if different else ()
        for number, line in enumerate(again):
            if number in different and (found := _difference(theirs[number], line)):
                unsteady[number] = found
                del different[number]
        return different, unsteady


def _difference(one: str, other: str) -> Found | None:
    """Return the first difference of two lines about the same call, or None."""
    if one == other:
        return None
    (name, answer), (_, upstream) = json.loads(one), json.loads(other)
    difference = first_difference(answer, upstream)
    return None if difference is None else Found(name, difference)


def sentence(difference: Difference, *, steady: bool = True) -> str:
    """Say what differs, for people.

    :param steady: whether marshmallow gives its answer again
    """
    where, one, other = difference.path, difference.planned, difference.upstream
    what = (
        f"{one} by althaia, {other} by marshmallow"
        if steady
        else f"not deterministic, marshmallow gave {one} and then {other}"
    )
    return f"{where or 'the result itself'}: {what}"
