"""Two threads against one: what they cost each other where there is no GIL.

Each thread dumps (or loads, or writes as text) a collection of its own, again and again, first
alone and then beside another one. What is compared is the processor time of a call: where nothing
is shared it is the same. Where it is more, they wait for the same memory: counters, reference
counts, locks. Both threads have a schema each, or the same one::

    python3.13t -m benchmarks.threads
    python3.13t -m benchmarks.threads --case flat --rounds 30

With a GIL the figures say nothing: the threads take turns.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import os
import statistics
import sys
import threading
from collections.abc import Callable
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


def measure(ma: Any, case: str, action: str, same: bool, rounds: int) -> tuple[float, float, int]:
    """Seconds of a call alone, the ratio of two at once to that, and how many rounds count.

    Medians of the rounds in which nobody else had the cores. A round is short, so that there are
    such rounds on a busy machine too.
    """
    both = works(ma, case, action, same)
    # The plans are built, and both threads' data has been seen, before the clock runs.
    for work in both:
        work()
    begun = thread_time()
    both[0]()
    loops = max(1, round(ROUND / max(thread_time() - begun, 1e-6)))
    alone: list[float] = []
    beside: list[float] = []
    gc.collect()
    gc.disable()
    try:
        until = perf_counter() + LONGEST
        while min(len(alone), len(beside)) < rounds and perf_counter() < until:
            for found, tried in ((alone, both[:1]), (beside, both)):
                one = side_by_side(tried, loops)
                if one is not None:
                    found.append(one)
    finally:
        gc.enable()
    if not alone or not beside:
        raise SystemExit("the machine is too busy: no round was undisturbed")
    median = statistics.median(alone)
    return median, statistics.median(beside) / median, min(len(alone), len(beside))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--library", default="althaia.marshmallow", help="or marshmallow")
    parser.add_argument("--case", choices=("flat", "nested"), action="append")
    parser.add_argument("--action", choices=("dump", "load", "dumps"), action="append")
    parser.add_argument("--rounds", type=int, default=100, help="undisturbed ones, of each kind")
    given = parser.parse_args()
    ma = importlib.import_module(given.library)
    if getattr(sys, "_is_gil_enabled", lambda: True)():
        print("this interpreter has a GIL: its threads take turns", file=sys.stderr)
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    print(f"{sys.version.split()[0]}, {os.cpu_count()} cores{load}")
    print(f"{'':22}{'one alone':>12}{'two':>8}{'rounds':>8}")
    for case in given.case or ("flat", "nested"):
        for action in given.action or ("dump", "load", "dumps"):
            for same in (False, True):
                one, ratio, count = measure(ma, case, action, same, given.rounds)
                name = f"{case} {action}, {'same' if same else 'own'}"
                print(f"{name:22}{one * 1e6:9.0f} µs{ratio:8.2f}{count:8}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
