"""Asks both libraries the same, each in a process of its own: for ``bench`` and ``compare``."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from althaia.cli import CommandError
from althaia.trust.differences import Difference
from althaia.trust.portable import first_difference

SIDES = ("marshmallow", "althaia")
_ENDED = '{"failed": "its process ended"}'


class Process:
    """One library's process.

    :param side: one of :data:`SIDES`
    :raises CommandError: the schema cannot be imported there
    """

    def __init__(self, side: str, schema: str, *, plan_at_once: bool = False) -> None:
        self.side = side
        ours = ("PATCH", "DISABLE", "COMPARE", "COMPARE_FILE", "STRICT", "NOTES")
        dropped = {f"ALTHAIA_{name}" for name in ours}
        environment = {k: v for k, v in os.environ.items() if k not in dropped}
        # Both processes must iterate over sets in the same order.
        environment["PYTHONHASHSEED"] = "0"
        patched = side == "althaia"
        if not patched:
            # The schema's own module may call patch().
            environment["ALTHAIA_DISABLE"] = "1"
        with _interrupts_held():
            self._process = subprocess.Popen(
                [sys.executable, "-m", "althaia.cli.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env=environment,
            )
        try:
            self.ask("start", schema=schema, patched=patched, plan_at_once=plan_at_once)
        except KeyboardInterrupt:  # It may have come to this process alone.
            self.close()
            raise

    def ask(
        self, do: str, watch: Callable[[int, int], object] | None = None, **details: Any
    ) -> dict[str, Any]:
        """Return the answer to a command.

        :param watch: called with how much is done, and of how much
        :raises CommandError: the command failed
        """
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        try:
            stdin.write(json.dumps({"do": do, **details}) + "\n")
            stdin.flush()
            while "done" in (answer := json.loads(stdout.readline() or _ENDED)):
                if watch is not None:
                    watch(answer["done"], answer["of"])
        except BrokenPipeError:
            answer = json.loads(_ENDED)
        if "failed" in answer:
            self.close()
            raise CommandError(f"with {self.side}: {answer['failed']}")
        return dict(answer)

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Block SIGINT, also in a process that is started in the block: this one ends it."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Found(NamedTuple):
    """The first difference of two answers to a call."""

    call: str
    difference: Difference


class Judged(NamedTuple):
    """The answers of both libraries, compared. Differences are kept by the number of the call."""

    planned: dict[str, Any]
    upstream: dict[str, Any]
    different: dict[int, Found]
    unsteady: dict[int, Found]
    """What marshmallow answers differently in a second process."""


def judge(ask: Callable[[str, Path], dict[str, Any]], scratch: Path) -> Judged:
    """Compare the answers of both libraries.

    :param ask: lets a library write its answers to a file, a line each: the call's name, a tab, its
        result as JSON; returns what it says of them. Marshmallow may be asked twice, the second
        time in a new process.
    :param scratch: a folder for the answers
    """
    files = [scratch / name for name in ("althaia", "marshmallow", "again")]
    planned, upstream = ask("althaia", files[0]), ask("marshmallow", files[1])
    found = dict(_differing(files[0], files[1]))
    # Ask marshmallow again only if there are differences: it takes as long as the first time.
    unsteady: dict[int, Found] = {}
    if found or planned["calls"] != upstream["calls"]:
        ask("marshmallow", files[2])
        unsteady = dict(_differing(files[1], files[2]))
    different = {number: each for number, each in found.items() if number not in unsteady}
    return Judged(planned, upstream, different, unsteady)


def _differing(ours: Path, theirs: Path) -> Iterator[tuple[int, Found]]:
    """Yield the first difference of each call, with the call's number."""
    with ours.open(encoding="utf-8") as one, theirs.open(encoding="utf-8") as other:
        for number, (mine, yours) in enumerate(zip(one, other, strict=False)):
            if mine != yours:
                name, _, answer = mine.partition("\t")
                upstream = yours.partition("\t")[2]
                difference = first_difference(json.loads(answer), json.loads(upstream))
                if difference is not None:
                    yield number, Found(name, difference)


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
