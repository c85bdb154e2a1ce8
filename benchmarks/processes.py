"""The parent's side: start the workers, compare their outputs, let them take turns."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import environments
from benchmarks.equality import difference
from benchmarks.libraries import UPSTREAM, Library
from benchmarks.model import Case
from benchmarks.timing import Spread, ratios


class WorkerFailed(Exception):
    """A worker's answer was a traceback, or it died."""


class Contestant:
    """A library's running process."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self._process = subprocess.Popen(
            [
                str(environments.python_for(library)),
                str(Path(__file__).with_name("worker.py")),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**_clean_environment(), **library.variables},
        )
        started = self.ask("start", runner=library.runner)
        self.cases: list[str] = started["cases"]
        self.versions: dict[str, str] = started["versions"]

    def ask(self, do: str, **details: Any) -> dict[str, Any]:
        """Send one command and wait for its answer; raises WorkerFailed."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps({"do": do, **details}) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise WorkerFailed(f"{self.library.label}: the process ended during {do!r}")
        answer: dict[str, Any] = json.loads(line)
        if "failed" in answer:
            raise WorkerFailed(f"{self.library.label}: {answer['failed']}")
        return answer

    def close(self) -> None:
        """End the process, and wait for it."""
        self._process.kill()
        self._process.communicate()


_first: Path | None = None


def put_first(folder: Path) -> None:
    """Let the workers that are started from now on find packages in a folder first."""
    global _first
    _first = folder


def _clean_environment() -> dict[str, str]:
    """The caller's environment, without switches that would make two contestants one."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("ALTHAIA_", "PYTHON"))}
    # Hash seeds change the order of sets and the collisions of dicts.
    path = {} if _first is None else {"PYTHONPATH": str(_first)}
    return kept | {"PYTHONHASHSEED": "0"} | path


@contextmanager
def contestants(libraries: Sequence[Library]) -> Iterator[tuple[list[Contestant], dict[str, str]]]:
    """The processes of ``libraries``, and why those that could not be started were not."""
    started: list[Contestant] = []
    absent: dict[str, str] = {}
    try:
        for library in libraries:
            try:
                started.append(Contestant(library))
            except (environments.EnvironmentFailed, WorkerFailed) as error:
                if library is UPSTREAM:
                    raise
                absent[library.name] = str(error)
        yield started, absent
    finally:
        for contestant in started:
            contestant.close()


@dataclass(slots=True)
class Result:
    """One library on one case: a ratio to upstream, or why there is none."""

    wrong: str | None = None
    failed: str | None = None
    microseconds: float | None = None
    ratio: Spread | None = None


@dataclass(slots=True)
class Measured:
    """One case, and every library that took part in it."""

    case: Case
    objects: int
    results: dict[str, Result] = field(default_factory=dict)


def measure(
    case: Case, running: Sequence[Contestant], rounds: int, seconds: float, objects: int = 0
) -> Measured:
    """Let everybody do the work once, compare, and time those who did it right in turns."""
    measured = Measured(case, objects or case.objects)
    loops: dict[Contestant, int] = {}
    work = case.like or case.name
    with tempfile.TemporaryDirectory() as scratch:
        expected: Any = None
        expected_bytes = b""
        for contestant in running:
            library = contestant.library
            if work not in contestant.cases:
                continue
            output = Path(scratch) / library.name
            result = measured.results[library.name] = Result()
            try:
                prepared = contestant.ask(
                    "prepare",
                    case=work,
                    objects=measured.objects,
                    output=str(output),
                    seconds=seconds,
                    collector=case.collector,
                )
            except WorkerFailed as error:
                if library is UPSTREAM:
                    raise
                result.failed = str(error)
                continue
            given = output.read_bytes()
            output.unlink()
            if given != expected_bytes or not expected_bytes:
                try:
                    actual = pickle.loads(given)
                except (ImportError, pickle.UnpicklingError) as error:
                    result.failed = f"{library.label}: its output cannot be read here: {error}"
                    continue
                if library is UPSTREAM:
                    expected, expected_bytes = actual, given
                else:
                    result.wrong = difference(expected, actual, ordered=library.drop_in)
                    if result.wrong:
                        continue
            loops[contestant] = prepared["loops"]
    times: dict[str, list[float]] = {contestant.library.name: [] for contestant in loops}
    for turn in range(rounds):
        # The order alternates: whoever always ran last would always meet a hotter machine.
        for contestant in loops if turn % 2 == 0 else reversed(list(loops)):
            calls = loops[contestant]
            spent = contestant.ask("time", loops=calls, collector=case.collector)
            times[contestant.library.name].append(spent["seconds"] / calls)
    for name, spent_each in times.items():
        result = measured.results[name]
        result.microseconds = Spread.of(spent_each).median * 1e6 / measured.objects
        result.ratio = ratios(times[UPSTREAM.name], spent_each)
    return measured
