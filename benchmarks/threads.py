"""Two threads against one: what they cost each other where there is no GIL.

Each thread dumps (or loads, or writes as text) a collection of its own, again and again, first
alone, then beside another process that does the same work, then beside another thread. What is
compared is the processor time of a call. Beside a process it rises where two cores of the machine
share a clock, a cache or a physical core; beside a thread it also rises where both wait for the
same memory: counters, reference counts, locks. The last column is that part alone, beside a
thread against beside a process. Both threads have a schema each, or the same one::

    python3.13t -m benchmarks.threads
    python3.13t -m benchmarks.threads --case flat --rounds 30

With a GIL the figures say nothing: the threads take turns. Linux only: it stops the other
process between rounds and asks the system for its processor time.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import os
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter, thread_time
from typing import Any

ITEMS = 500
ROUND = 0.002
"""Seconds of a round, shorter than what the system gives to one thread in one go."""
LONGEST = 60.0
"""Seconds after which a case makes do with the rounds that it has."""
UNDISTURBED = 0.9
"""How much of a round both threads must have been running."""

Work = Callable[[], object]


class Row:
    """What the flat cases dump."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.name = f"name {number}"
        self.price = number / 4
        self.active = number % 2 == 0
        self.note = None

    def __repr__(self) -> str:
        return f"Row({self.number})"


def schemas(ma: Any) -> dict[str, Any]:
    """The schema classes by case."""
    fields = ma.fields

    class Flat(ma.Schema):  # type: ignore[misc]
        number = fields.Integer()
        name = fields.String()
        price = fields.Float()
        active = fields.Boolean()
        note = fields.String(allow_none=True)

    class Nested(ma.Schema):  # type: ignore[misc]
        number = fields.Integer()
        inner = fields.Nested(Flat)
        many = fields.List(fields.Nested(Flat))

    return {"flat": Flat, "nested": Nested}


def rows(case: str) -> list[Any]:
    """A collection of one thread's own."""
    if case == "flat":
        return [Row(i) for i in range(ITEMS)]
    return [
        {"number": i, "inner": vars(Row(i)), "many": [vars(Row(i)) for _ in range(3)]}
        for i in range(ITEMS // 5)
    ]


def works(ma: Any, case: str, action: str, same: bool) -> list[Work]:
    """What two threads do, each with its own collection."""
    cls = schemas(ma)[case]
    shared = cls()
    made = []
    for _ in range(2):
        schema = shared if same else cls()
        if action == "load":
            data: Any = cls().dump(rows(case), many=True)
        else:
            data = rows(case)
        made.append(_work(getattr(schema, action), data))
    return made


def _work(method: Callable[..., object], data: Any) -> Work:
    return lambda: method(data, many=True)


def side_by_side(works: list[Work], loops: int) -> float | None:
    """Seconds of processor time of a call, the threads' mean.

    None where one was kept from running, or ran while the other did not: then they had nothing to
    wait for, and the figure would be too good.
    """
    ready: list[int] = []
    spans: list[tuple[float, float, float]] = []

    def each(number: int, work: Work) -> None:
        ready.append(number)
        while len(ready) < len(works):
            # Not a barrier: whoever comes out of one may still have to wait for a core.
            pass
        begun, before = perf_counter(), thread_time()
        for _ in range(loops):
            work()
        spent = thread_time() - before
        spans.append((begun, perf_counter(), spent))

    pool = [threading.Thread(target=each, args=pair) for pair in enumerate(works)]
    for thread in pool:
        thread.start()
    for thread in pool:
        thread.join()
    together = min(end for _, end, _ in spans) - max(begun for begun, _, _ in spans)
    if any(together < UNDISTURBED * (end - begun) for begun, end, _ in spans):
        return None
    if any(spent < UNDISTURBED * (end - begun) for begun, end, spent in spans):
        return None
    return statistics.mean(spent for _, _, spent in spans) / loops


class Neighbour:
    """Another process that does one thread's work, again and again, while it is let run."""

    def __init__(self, library: str, case: str, action: str) -> None:
        command = [sys.executable, "-m", "benchmarks.threads", "--library", library]
        self.process = subprocess.Popen(
            [*command, "--case", case, "--action", action, "--neighbour"],
            stdout=subprocess.PIPE,
        )
        if not (self.process.stdout and self.process.stdout.readline()):
            raise SystemExit("the other process did not start")
        self.process.send_signal(signal.SIGSTOP)

    def seconds(self) -> float:
        """Processor time that it has had so far."""
        # The clock of another process: see clock_getcpuclockid(3) and the kernel's posix-timers.h.
        return time.clock_gettime(~self.process.pid << 3 | 2)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Let it run, from when it has a core, until the block ends."""
        self.process.send_signal(signal.SIGCONT)
        before = self.seconds()
        until = perf_counter() + 0.05
        while self.seconds() == before and perf_counter() < until:
            pass
        try:
            yield
        finally:
            self.process.send_signal(signal.SIGSTOP)

    def beside(self, work: Work, loops: int) -> float | None:
        """Seconds of a call while it runs, or None where it was kept from running."""
        with self.running():
            begun, before = perf_counter(), self.seconds()
            spent = side_by_side([work], loops)
            share = (self.seconds() - before) / (perf_counter() - begun)
        return spent if share > UNDISTURBED else None

    def close(self) -> None:
        """End it."""
        self.process.kill()
        self.process.communicate()


def neighbour(ma: Any, case: str, action: str) -> None:
    """Do what the first thread does, until this process is killed."""
    work = works(ma, case, action, same=False)[0]
    work()
    print("running", flush=True)
    gc.disable()
    while True:
        work()


def measure(library: str, case: str, action: str, same: bool, rounds: int) -> tuple[float, ...]:
    """Seconds of a call alone, beside a process and beside a thread, and how many rounds count.

    Medians of the rounds in which nobody else had the cores. A round is short, so that there are
    such rounds on a busy machine too.
    """
    both = works(importlib.import_module(library), case, action, same)
    # The plans are built, and both threads' data has been seen, before the clock runs.
    for work in both:
        work()
    begun = thread_time()
    both[0]()
    loops = max(1, round(ROUND / max(thread_time() - begun, 1e-6)))
    other = Neighbour(library, case, action)
    ways: list[tuple[list[float], Callable[[], float | None]]] = [
        ([], lambda: side_by_side(both[:1], loops)),
        ([], lambda: other.beside(both[0], loops)),
        ([], lambda: side_by_side(both, loops)),
    ]
    gc.collect()
    gc.disable()
    try:
        until = perf_counter() + LONGEST
        while min(len(found) for found, _ in ways) < rounds and perf_counter() < until:
            for found, run in ways:
                one = run()
                if one is not None:
                    found.append(one)
    finally:
        gc.enable()
        other.close()
    if not all(found for found, _ in ways):
        raise SystemExit("the machine is too busy: no round was undisturbed")
    return (
        *(statistics.median(found) for found, _ in ways),
        min(len(found) for found, _ in ways),
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--library", default="althaia.marshmallow", help="or marshmallow")
    parser.add_argument("--case", choices=("flat", "nested"), action="append")
    parser.add_argument("--action", choices=("dump", "load", "dumps"), action="append")
    parser.add_argument("--rounds", type=int, default=100, help="undisturbed ones, of each kind")
    parser.add_argument("--neighbour", action="store_true", help="be the other process")
    given = parser.parse_args()
    if given.neighbour:
        neighbour(importlib.import_module(given.library), given.case[0], given.action[0])
    if getattr(sys, "_is_gil_enabled", lambda: True)():
        print("this interpreter has a GIL: its threads take turns", file=sys.stderr)
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    print(f"{sys.version.split()[0]}, {os.cpu_count()} cores{load}")
    print(f"{'':22}{'one alone':>12}{'+ process':>11}{'+ thread':>10}{'sharing':>9}{'rounds':>8}")
    for case in given.case or ("flat", "nested"):
        for action in given.action or ("dump", "load", "dumps"):
            for same in (False, True):
                alone, process, thread, count = measure(
                    given.library, case, action, same, given.rounds
                )
                name = f"{case} {action}, {'same' if same else 'own'}"
                print(
                    f"{name:22}{alone * 1e6:9.0f} µs{process / alone:11.2f}"
                    f"{thread / alone:10.2f}{thread / process:9.2f}{count:8}",
                    flush=True,
                )
    return 0


if __name__ == "__main__":
    sys.exit(main())
