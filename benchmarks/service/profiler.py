"""Where the processor time of requests goes: a sampling profiler in the worker.

A timer of the processor asks for a sample each millisecond. Python calls the handler when the
interpreter gets to it, which is late where C code runs: after a call of a compiled ``dump``,
say, one sample stands for all of it. So a sample counts the processor time since the one before
and gives it to the line that was being run: the call itself. The collector is timed exactly, by
``gc.callbacks``.
"""

from __future__ import annotations

import gc
import linecache
import signal
import sys
import time
from collections import defaultdict
from types import FrameType
from typing import Any

PARTS = ("database", "orm", "attributes", "marshmallow", "text", "framework", "collector")
"""Database driver, ORM, the ORM's attributes read by a dump, dump or load, JSON text, all other
code, garbage collection."""

_BY_PACKAGE = {
    "psycopg": "database",
    "psycopg_binary": "database",
    "sqlite3": "database",
    "sqlalchemy": "orm",
    "marshmallow": "marshmallow",
    "json": "text",
}
_CALLS = (".dump(", ".load(", ".dumps(", ".loads(")
_CURSOR = frozenset({"do_execute", "do_executemany", "do_commit", "do_rollback", "do_ping"})


class Profiler:
    """Counts seconds of processor time by part, between :meth:`start` and :meth:`stop`."""

    def __init__(self, interval: float = 0.001) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._interval = interval
        self._last = 0.0
        self._collecting = False
        self._lines: dict[tuple[str, int], str] = {}

    def start(self) -> None:
        """Begin; only in the main thread, which has to be the one that works."""
        self.seconds.clear()
        self._last = time.process_time()
        signal.signal(signal.SIGPROF, self._tick)
        signal.setitimer(signal.ITIMER_PROF, self._interval, self._interval)
        gc.callbacks.append(self._collected)

    def stop(self) -> dict[str, float]:
        """End; the seconds of each part."""
        signal.setitimer(signal.ITIMER_PROF, 0)
        gc.callbacks.remove(self._collected)
        self._count(sys._getframe(1))
        return {part: self.seconds[part] for part in PARTS}

    def _tick(self, _: int, frame: FrameType | None) -> None:
        # A tick within a collection is handled at its end, before the callback's own first line.
        self._count(None if self._collecting else frame)

    def _collected(self, phase: str, _: dict[str, Any]) -> None:
        self._count(None if self._collecting else sys._getframe(1))
        self._collecting = phase == "start"

    def _count(self, frame: FrameType | None) -> None:
        """Give the time since the last sample to ``frame``, or to the collector."""
        now = time.process_time()
        part = "collector" if frame is None else self._part(frame)
        self.seconds[part] += now - self._last
        # What the profiler itself takes is nobody's.
        self._last = time.process_time()

    def _part(self, frame: FrameType | None) -> str:
        """The part of the innermost frame that belongs to one.

        The ORM's own code inside a dump is the reading of attributes.
        """
        reading = False
        while frame is not None:
            found = self._part_of(frame)
            if found == "marshmallow" and reading:
                return "attributes"
            if found == "orm":
                reading = True
            elif found:
                return "orm" if reading and found != "marshmallow" else found
            frame = frame.f_back
        return "orm" if reading else "framework"

    def _part_of(self, frame: FrameType) -> str | None:
        name = str(frame.f_globals.get("__name__", ""))
        package = name.partition(".")[0]
        if package == "sqlalchemy" and frame.f_code.co_name in _CURSOR:
            return "database"
        if name in ("flask.json", "flask.json.provider", "starlette.responses") or (
            name.startswith(("althaia.json", "althaia.sinks", "althaia.adapters"))
        ):
            return "text"
        if part := _BY_PACKAGE.get(package):
            return part
        # A compiled dump has no frame of its own: its caller's line is being run.
        line = self._line(frame)
        if any(call in line for call in _CALLS):
            return "marshmallow"
        return None

    def _line(self, frame: FrameType) -> str:
        # A frame that is only about to begin, or to end, may stand on no line.
        where = (frame.f_code.co_filename, frame.f_lineno or 0)
        if where not in self._lines:
            self._lines[where] = linecache.getline(*where)
        return self._lines[where]
