"""Which memory two threads use that one of them writes: counted, without a clock or a second core.

Two threads do the same work with the same schema, one after the other, under valgrind's lackey,
which prints every access to memory. What both use and one writes, they would wait for if they ran
at once: each write takes the line of 64 bytes away from the other core::

    python3.13t -m benchmarks.sharing flat,load nested,dump

Takes ten minutes, most of it for starting the interpreter. Needs Linux, valgrind and a C compiler.
Writes of less than one in three items are left out: what a call writes once costs nothing here.
"""

from __future__ import annotations

import argparse
import bisect
import ctypes
import gc
import importlib
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

from benchmarks import threads

MARK = 0x600000000
"""Where the program says that a thread begins or ends; ``sharing.c`` has the same."""
FIXED_AND_PRIVATE = 0x32
"""MAP_PRIVATE, MAP_FIXED and MAP_ANONYMOUS of Linux."""
READ_AND_WRITE = 0x3
ITEMS = 100
CALLS = 5
LEAST = 0.3
"""Of an item, of reads and of writes; what is less is not shown."""
BEFORE = 8
"""Calls of each thread until the plans are built."""


def program(cases: Iterable[str]) -> None:
    """Run each case by two threads, one after the other, and store into MARK around it."""
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    if libc.mmap(MARK, 4096, READ_AND_WRITE, FIXED_AND_PRIVATE, -1, 0) != MARK:
        raise SystemExit("the system gives no memory where it is asked for")
    mark = ctypes.c_char.from_address(MARK)
    threads.ITEMS = ITEMS
    ma = importlib.import_module("althaia.marshmallow")
    gc.disable()
    for case in cases:
        schema, action = case.split(",")
        turns = [threading.Semaphore(0) for _ in range(2)]
        done = threading.Semaphore(0)

        def each(work: threads.Work, turn: threading.Semaphore, done: threading.Semaphore) -> None:
            for _ in range(BEFORE):
                work()
            done.release()
            turn.acquire()
            work()
            mark.value = b"x"
            for _ in range(CALLS):
                work()
            mark.value = b"x"
            done.release()
            # Both are there until the end: a thread's memory may go to the next one.
            turn.acquire()

        pool = [
            threading.Thread(target=each, args=(work, turn, done))
            for work, turn in zip(threads.works(ma, schema, action, True), turns, strict=True)
        ]
        for thread in pool:
            thread.start()
            done.acquire()
        for turn in turns:
            turn.release()
            done.acquire()
        for turn in turns:
            turn.release()
        for thread in pool:
            thread.join()
    print(Path("/proc/self/maps").read_text(), flush=True)


def traced(cases: list[str], folder: Path) -> tuple[list[str], list[str]]:
    """The lines of sharing.c about the cases, and those of the program's map of memory."""
    counter, maps, found = folder / "sharing", folder / "maps", folder / "found"
    source = Path(__file__).with_suffix(".c")
    subprocess.run(["cc", "-O2", "-o", str(counter), str(source)], check=True)
    command = ["valgrind", "--tool=lackey", "--trace-mem=yes", sys.executable]
    command += ["-m", "benchmarks.sharing", "--program", *cases]
    with maps.open("w") as mapped, found.open("w") as counted:
        running = subprocess.Popen(command, stdout=mapped, stderr=subprocess.PIPE)
        subprocess.run([str(counter)], stdin=running.stderr, stdout=counted, check=True)
        if running.wait():
            raise SystemExit(f"{' '.join(command)} ended with exit code {running.returncode}")
    return found.read_text().splitlines(), maps.read_text().splitlines()


class Modules:
    """Where in which file an instruction is."""

    def __init__(self, maps: Iterable[str]) -> None:
        self._spans: list[tuple[int, int, int, str]] = []
        for line in maps:
            words = line.split()
            if len(words) == 6 and "x" in words[1]:
                start, end = (int(one, 16) for one in words[0].split("-"))
                self._spans.append((start, end, int(words[2], 16), Path(words[5]).name))

    def name(self, instruction: int) -> str:
        """As ``file+offset``."""
        at = bisect.bisect(self._spans, (instruction, sys.maxsize)) - 1
        if at >= 0 and instruction < self._spans[at][1]:
            start, _, offset, file = self._spans[at]
            return f"{file}+{instruction - start + offset:#x}"
        return f"{instruction:#x}"


def reports(found: Iterable[str]) -> Iterator[dict[str, tuple[float, list[tuple[float, int]]]]]:
    """For each case the lines of memory: writes an item, and of each instruction alone."""
    case: dict[str, tuple[float, list[tuple[float, int]]]] | None = None
    for text in found:
        kind, *words = text.split()
        if kind == "case":
            if case is not None:
                yield case
            case = {}
        elif case is not None:
            writes = sum(map(int, words[-2:])) / 2 / ITEMS / CALLS
            if kind == "site":
                case[words[0]][1].append((writes, int(words[1], 16)))
                continue
            reads = [int(one) / ITEMS / CALLS for one in words[1:3]]
            # One thread's own memory may have been looked at by the other, once.
            case[words[0]] = (writes if min(reads) >= LEAST else 0.0), []
    if case is not None:
        yield case


def show(cases: list[str], found: Iterable[str], modules: Modules) -> None:
    """What is written, the most first."""
    for name, case in zip(cases, reports(found), strict=True):
        print(f"{name}: writes of an item to memory that the other thread uses")
        for writes, sites in sorted(case.values(), reverse=True):
            if writes < LEAST:
                break
            print(f"  {writes:6.2f}")
            for share, instruction in sorted(sites, reverse=True)[:6]:
                print(f"         {share:6.2f}  {modules.name(instruction)}")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("case", nargs="+", help="as flat,load: flat, nested; dump, load, dumps")
    parser.add_argument("--program", action="store_true", help="be what is traced")
    given = parser.parse_args()
    if given.program:
        program(given.case)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        found, maps = traced(given.case, Path(folder))
    show(given.case, found, Modules(maps))
    return 0


if __name__ == "__main__":
    sys.exit(main())
