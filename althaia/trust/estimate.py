"""Estimates what althaia saves, on the calls that a program makes.

The program runs with plans. A few of its calls are made again, at once and so in their context
(request, session, application): twice by the plan and twice by upstream's own code, of which the
better times count, because code that runs seldom is slow. What a call loads from a database is
there by then, so that it is in none of these times. All times are processor time of the thread,
without the garbage collector.
"""

import gc
import os
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from functools import cache, partial
from itertools import tee
from textwrap import shorten
from threading import Lock
from time import perf_counter, process_time, thread_time
from timeit import timeit
from typing import Any

from althaia import seam
from althaia.trust import seam_layers, units
from althaia.trust.compare import CHOSEN, PLANNED, UPSTREAM, Call, given, running, why_not

FIRST_PLAN = 16
"""The call of a schema that makes its plan; earlier ones count as if they had one."""
SPACING = 1.25
"""How much further the next call is that is made again, after the first four."""
REPEATS = 2
"""How often each side makes a call again; the better time counts."""

_COLUMNS = ("marshmallow", "althaia", "loading", "wait")

_Line = defaultdict[str, float]
"""Of a class and a way to call it, ``()`` to make an instance: how many ``calls`` a plan has
answered and the ``seconds`` of them; the same of ``unplanned`` calls; the ``wait`` of all, which is
their time by the clock beyond that; of ``measured`` calls what they took ``at_first``, ``by_plan``
again and ``by_upstream``."""


class Estimate:
    """Measures from its making on, in forked processes too."""

    has_forked = False

    def __init__(self) -> None:
        self.start_again()
        self.began = process_time()
        seam_layers.put(self.layer)
        gc.callbacks.append(self.collected)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.start_again, after_in_parent=self.note_fork)

    def start_again(self) -> None:
        """Begin with nothing, as a forked process does, whose clock begins again."""
        self.lock = Lock()
        self.lines: defaultdict[tuple[str, str], _Line] = defaultdict(lambda: defaultdict(float))
        self.why: dict[tuple[str, str], str] = {}
        self.began = self.own = self.collecting = 0.0
        """The processor time at the beginning, what measuring took, and the garbage collector."""
        self.asked = 0
        """How often upstream's own code has asked hooks of ours, which it does not without us."""

    def collected(self, phase: str, _: object) -> None:
        self.collecting += thread_time() * (1 if phase == "stop" else -1)

    def note_fork(self) -> None:
        self.has_forked = True

    def layer(self, name: str, inner: seam_layers.Hook) -> seam_layers.Hook:
        nothing = seam._OWN[name]

        def hook(*args: Any) -> Any:
            turn = running.get()
            if turn == UPSTREAM:
                self.asked += 1
                return nothing(*args)
            if turn is None and name in CHOSEN:
                return self.called(Call(name, args[0], args[1:]))
            if turn is None and name == "construct":
                return self.made(inner, *args)
            return inner(*args)

        # Upstream's ``validate`` calls ``_do_load``, which is measured.
        return nothing if name == "validate" else hook

    def called(self, call: Call) -> Any:
        """Make a call of the program's; perhaps make it again."""
        from althaia.engine.plan import statistics_of, why_no_plan

        began, (name, schema, args) = thread_time(), call
        key = _key(schema, name.replace("serialize", "dump"))
        line = self.lines[key]
        counters = getattr(statistics_of(type(schema)), "load" if "load" in name else "dump")
        why = _is_due(line) and why_not(call)
        again = [call.copy() for _ in range(2 * REPEATS if why == "" else 0)]
        if why and _reads_rows(name, schema, *args):
            why = ""
            call, *again = map(call.with_input, tee(args[0], 1 + 2 * REPEATS))
        answered, collecting = counters.calls, self.collecting
        clock, before = perf_counter(), thread_time()
        planned = call.outcome(PLANNED)
        taken = thread_time() - before
        wait, seconds = perf_counter() - clock - taken, taken - self.collecting + collecting
        if counters.calls == answered:
            why = counters.why or why_no_plan(type(schema))
            found = {"unplanned": 1, "unplanned_seconds": seconds}
        else:
            found = {"calls": 1, "seconds": seconds}
            if again:
                found |= self.again(seconds, again)
        self.add(line, wait=max(wait, 0.0), **found)
        with self.lock:
            self.why[key] = why or ""
            self.own += thread_time() - began - taken
        return given(planned)

    def made(self, inner: seam_layers.Hook, schema: Any, *args: Any) -> Any:
        """Make an instance of the program's; perhaps make it again."""
        before, collecting = thread_time(), self.collecting
        complete = inner(schema, *args)
        taken = thread_time() - before
        if complete:
            seconds = taken - self.collecting + collecting
            line, found = self.lines[_key(schema, "()")], {"calls": 1, "seconds": seconds}
            if _is_due(line):
                again = [Call("construct", schema, args)] * (2 * REPEATS)
                found |= self.again(seconds, again)
            self.add(line, **found)
        with self.lock:
            self.own += thread_time() - before - taken
        return complete

    def again(self, seconds: float, copies: list[Call]) -> dict[str, float]:
        """Make a call again that took so long at first, each time with another copy."""
        by_plan = min(_time(each, PLANNED) for each in copies[:REPEATS])
        by_upstream = []
        if copies[0].name != "construct":
            # The instance may be lazy: its fields are made now, in neither time.
            with suppress(Exception):
                _ = copies[0].schema.fields
        for each in copies[REPEATS:]:
            asked = self.asked
            taken = _time(each, UPSTREAM)
            by_upstream.append(taken - (self.asked - asked) * _cost_of_a_hook())
        return {"at_first": seconds, "by_plan": by_plan, "by_upstream": min(by_upstream)}

    def add(self, line: _Line, **found: float) -> None:
        with self.lock:
            if "at_first" in found:
                found["measured"] = 1
                if line["measured"] == 1:  # The first call made the plan: alone, it counts.
                    for name in ("at_first", "by_plan", "by_upstream"):
                        line[name] = 0.0
            for name, value in found.items():
                line[name] += value

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as values that JSON knows: ``marshmallow`` and ``althaia`` are what the
        process takes with each, ``share`` is what marshmallow's calls are of the first."""
        lines: list[dict[str, Any]] = [
            {"schema": key[0], "call": key[1], "why": self.why.get(key, ""), **_sides(line)}
            for key, line in list(self.lines.items())
        ]
        lines.sort(key=lambda line: -line["marshmallow"])
        total = {name: sum(line[name] for line in lines) for name in ("more", *_COLUMNS)}
        whole = process_time() - self.began - self.own + total["more"]
        althaia = whole - total["marshmallow"] + total["althaia"]
        share = total["marshmallow"] / whole
        return {**total, "marshmallow": whole, "althaia": althaia, "share": share, "lines": lines}

    def as_text(self) -> str:
        """Return the same for reading, in 80 columns."""
        return "\n".join(text(self.as_dict()))


def _key(schema: Any, call: str) -> tuple[str, str]:
    return f"{type(schema).__module__}.{type(schema).__qualname__}", call


def _reads_rows(name: str, schema: Any, obj: Any, *options: Any) -> bool:
    """Return whether a call dumps what an iterator gives, and shows the iterator to no hook."""
    if "load" in name or not hasattr(type(obj), "__next__"):
        return False
    many = options[name == "dumps"]
    hooks = (seam.hooks_of(schema, tag) for tag in ("pre_dump", "post_dump"))
    return bool(schema.many if many is None else many) and not any(hooks)


def _is_due(line: _Line) -> bool:
    """Whether the next call is one to make again: the first ones, then ever fewer."""
    return line["measured"] < 4 or line["calls"] >= 4 * SPACING ** (line["measured"] - 4)


def _sides(line: _Line) -> dict[str, float]:
    """Return a line, and what all its calls take with each library once there is a plan; without
    ``loading``, which is what they take at first only. ``more`` is what marshmallow would have
    taken more than this process."""
    seconds, others = line["seconds"], line["unplanned_seconds"]
    plan, upstream = line["by_plan"], line["by_upstream"]
    loading = max(line["at_first"] - plan, 0.0)
    # A share of what calls take at first, by the plan and by upstream's code.
    planned = seconds / (loading + plan) if plan else 0.0
    unplanned = others / (loading + upstream) if plan else 0.0
    unknown = 0.0 if plan else seconds + others
    # Of calls without a plan only the first ones would have one.
    first = min(FIRST_PLAN / (line["unplanned"] or 1), 1)
    theirs = unknown + (planned + unplanned) * upstream
    ours = unknown + planned * plan + unplanned * (upstream + first * (plan - upstream))
    return {
        "wait": 0.0,
        "measured": 0.0,
        **line,
        "more": planned * (upstream - plan),
        "marshmallow": theirs,
        "althaia": ours,
        "loading": (planned + unplanned) * loading,
    }


_ROW = "{:<22}{:<6}{:>7} {:>11}{:>11}{:>11}{:>11}".format


def text(found: dict[str, Any]) -> Iterator[str]:
    if not found["lines"]:
        yield "No schema was dumped or loaded."
        return
    theirs, ours, loading, wait = (units.time(found[name]) for name in _COLUMNS)
    part = found["althaia"] / found["marshmallow"]
    yield (
        f"marshmallow is {found['share']:.0%} of this process's processor time. With althaia the "
        f"process\ntakes {part:.0%} of it: {ours} instead of {theirs}. What the calls load "
        f"({loading})\nand wait for ({wait}) stays.\n"
    )
    yield _ROW("schema", "call", "calls", *_COLUMNS)
    for line in found["lines"]:
        calls = units.number(int(line.get("calls", 0) + line.get("unplanned", 0)))
        cells = [units.time(line[name]) for name in _COLUMNS]
        yield _ROW(units.short(line["schema"], 21), line["call"], calls, *cells)
        if line["why"] and not line["measured"]:
            yield f"  not measured: {shorten(line['why'], 64, placeholder=' …')}"


def _time(call: Call, turn: str) -> float:
    """Return the seconds of a call, without the garbage collector."""
    return timeit(partial(call.outcome, turn), timer=thread_time, number=1)


@cache
def _cost_of_a_hook() -> float:
    token = running.set(UPSTREAM)
    taken = timeit(lambda: seam.serialize(None, None, None), timer=thread_time, number=1000)
    running.reset(token)
    return taken / 1000
