"""Run the two worker processes in turns and compare what they answer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from buildtools.pipeline import is_pure

# The switches that would change which library a worker gets.
SWITCHES = ("ALTHAIA_PATCH", "ALTHAIA_DISABLE", "ALTHAIA_PLANS")


@dataclass(frozen=True)
class Case:
    name: str
    title: str
    repeat: int
    """How many dumps make up one measurement; small ones need more than one."""


@dataclass(frozen=True)
class Result:
    case: Case
    rows: int
    upstream: float
    patched: float
    difference: str | None
    """None where every row was identical, else what differs in the first that is not."""

    @property
    def ratio(self) -> float:
        return self.upstream / self.patched


class DemoError(Exception):
    """The comparison would not be what it says; the message says why and what to do."""


class Worker:
    """A process that dumps on request."""

    def __init__(self, name: str, launcher: Sequence[str], args: Sequence[str]) -> None:
        self.name = name
        environment = {key: val for key, val in os.environ.items() if key not in SWITCHES}
        self._process = subprocess.Popen(
            [sys.executable, *launcher, "demo.worker", *args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
            cwd=Path(__file__).parent.parent,
        )

    def ask(self, *command: Any) -> Any:
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(command) + "\n")
            process.stdin.flush()
            answer = process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            code = process.wait()
            raise DemoError(f"The {self.name} process ended with exit code {code} (see above).")
        return json.loads(answer)

    def close(self) -> None:
        # A worker that is already gone has closed its end; what it said is reported elsewhere.
        with suppress(BrokenPipeError):
            assert self._process.stdin is not None
            self._process.stdin.close()
        self._process.wait()


@contextmanager
def workers(database: Path, limit: int) -> Iterator[tuple[Worker, Worker]]:
    """Both processes, after it is certain that each runs what its name says.

    Raises:
        DemoError: one of them imported the other library, or an uncompiled copy.
    """
    args = (str(database), str(limit))
    upstream = Worker("upstream", ["-m"], args)
    patched = Worker("patched", ["-m", "althaia", "-m"], args)
    try:
        check_libraries(upstream.ask("library"), patched.ask("library"))
        yield upstream, patched
    finally:
        upstream.close()
        patched.close()


def check_libraries(upstream: dict[str, Any], patched: dict[str, Any]) -> None:
    """Raise DemoError unless one is the real library and the other ours, with its engine."""
    if upstream["engine"] or upstream["ours"]:
        raise DemoError(
            f"The upstream process imported {upstream['file']}, which is not the real "
            "marshmallow. Install it (pip install marshmallow) and run the demo again."
        )
    if not patched["ours"]:
        raise DemoError(
            f"The patched process was not patched: it imported {patched['file']}. "
            "Is ALTHAIA_DISABLE set in a start-up file?"
        )
    if not patched["engine"] and not is_pure(os.environ):
        raise DemoError(
            f"The patched process runs an uncompiled althaia, {patched['file']}. "
            "Build it (make build) and run the demo again."
        )


def measure(
    case: Case, upstream: Worker, patched: Worker, rounds: int, progress: Callable[[], object]
) -> Result:
    """The best of ``rounds``, taken in turns, and whether the outputs are the same."""
    rows, others = ask_both(upstream, patched, "load", case.name)
    if rows != others:
        raise DemoError(f"The two processes did not read the same rows for {case.title}.")
    progress()
    difference = compare(case, upstream, patched)
    progress()
    times: dict[Worker, list[float]] = {upstream: [], patched: []}
    for number in range(rounds):
        # Whoever goes first changes with the round, so that neither has the warmer machine.
        for worker in (upstream, patched) if number % 2 else (patched, upstream):
            times[worker].append(worker.ask("time", case.name, case.repeat))
            progress()
    return Result(case, rows, min(times[upstream]), min(times[patched]), difference)


def steps(rounds: int) -> int:
    """How often :func:`measure` reports progress."""
    return 2 + 2 * rounds


def ask_both(upstream: Worker, patched: Worker, *command: Any) -> list[Any]:
    """What both answer, side by side: nothing is timed here."""
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda worker: worker.ask(*command), (upstream, patched)))


def compare(case: Case, upstream: Worker, patched: Worker) -> str | None:
    """None where every dumped row is the same in both, else the first pair that is not."""
    expected, got = ask_both(upstream, patched, "digests", case.name)
    if len(expected) != len(got):
        return f"{len(expected)} rows from upstream, {len(got)} from the patched process"
    for index, (one, other) in enumerate(zip(expected, got, strict=True)):
        if one != other:
            return (
                f"row {index}\n  upstream: {upstream.ask('row', case.name, index)}\n"
                f"  patched:  {patched.ask('row', case.name, index)}"
            )
    return None
