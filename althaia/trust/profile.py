"""Profile: where the time of dumps and loads goes, by schema class and user's code.

Nothing of it stands in the engine. Each call is timed around the seam's function, and CPython tells
a profile function which Python functions run inside it. Compiled code has no such functions, so
that what is left is marshmallow's own work. Where no plans run, marshmallow's methods are timed
instead.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path
from textwrap import wrap
from time import perf_counter
from types import CodeType, FrameType
from typing import Any

from althaia import seam
from althaia.switch import redirect
from althaia.switch.release import has_engine, why_no_plans
from althaia.trust import seam_layers, units

TIMED = ("dump", "dumps", "load", "loads")
"""The seam's functions that are timed."""

WIDTH = 80
MOST_FUNCTIONS = 10
"""How many functions a table of them has."""
CALIBRATION = 100
"""So many calls are made at a time to measure what watching takes."""

_ROUGHLY = (
    "~ watching your functions took more than a fifth of the line's time; as much as was measured "
    "with empty functions is subtracted"
)
_NO_PLANS = "No plans run here: calls are timed as a whole, and nothing is known of your own code."


@dataclass
class Line:
    """One schema class in one direction. Times are in seconds.

    ``seconds`` is all; ``own`` is without the calls of other schemas inside, except those that the
    plan itself makes for nested schemas. Of ``own``, ``user`` is the user's code. ``outside`` is
    what the ``outside_calls`` took, which marshmallow's own code answered. ``overhead`` is what
    watching the user's functions took, which is in none of the other times.
    """

    schema: str
    direction: str
    calls: int = 0
    objects: int = 0
    seconds: float = 0.0
    own: float = 0.0
    user: float = 0.0
    outside_calls: int = 0
    outside: float = 0.0
    overhead: float = 0.0
    code: dict[str, float] = field(default_factory=dict)
    """Seconds of the user's code, by function."""
    packages: dict[str, float] = field(default_factory=dict)
    """The same of installed distributions, by distribution and function."""

    def add(self, call: _Call, spent: float, objects: int) -> None:
        """Add a call that has taken so many seconds."""
        own = spent - call.inside - call.overhead
        self.calls += 1
        self.objects += objects
        self.own += own
        self.overhead += call.overhead
        if not call.is_inside_its_class():
            self.seconds += spent - call.overhead - call.overhead_inside
        if call.outside:
            self.outside_calls += 1
            self.outside += own
        for code, taken in call.used.values():
            package = _package_of(code.co_filename)
            where = self.packages if package else self.code
            place = f"{os.path.basename(code.co_filename)}:{code.co_firstlineno}"
            name = f"{package}{code.co_qualname} ({place})"
            where[name] = where.get(name, 0.0) + taken

    @property
    def is_rough(self) -> bool:
        """Whether watching took much of the time."""
        return self.overhead > self.own / 5

    def settle(self) -> None:
        """Sort the functions. What was measured with no more than its overhead took no time."""
        for functions in (self.code, self.packages):
            found = sorted(functions.items(), key=lambda each: -each[1])
            functions.clear()
            functions.update((name, max(taken, 0.0)) for name, taken in found)
        self.user = sum((*self.code.values(), *self.packages.values()))
        self.own = max(self.own, self.user)
        self.seconds = max(self.seconds, self.own)
        self.outside = min(max(self.outside, 0.0), self.own)


@dataclass(repr=False)
class Profile:
    """What was measured. Filled when the ``with`` block ends.

    :ivar lines: a :class:`Line` for each schema class and direction, most expensive first.
    :ivar note: what this profile cannot tell, else "".
    """

    lines: list[Line] = field(default_factory=list)
    note: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as values that JSON knows."""
        return asdict(self)

    def as_text(self) -> str:
        """Tables of at most 80 columns."""
        return "\n".join(line.rstrip() for line in _lines(self))

    def __repr__(self) -> str:
        return f"<Profile of {len(self.lines)} schemas and directions>"


_ROW = "{:<34}{:<6}{:>8}{:>9}{:>8}{:>9}{:>6}".format


def _lines(profile: Profile) -> Iterator[str]:
    """Yield the tables: schemas, the user's code, what is outside plans."""
    if not profile.lines:
        yield "No schema was dumped or loaded."
    else:
        yield _ROW("schema", "", "calls", "objects", "total", "own", "user")
    for line in profile.lines:
        user = f"{line.user / line.own:.0%}" if line.own and line.user else "-"
        counts = map(units.number, (line.calls, line.objects))
        times = [units.time(line.seconds), units.time(line.own)]
        if line.is_rough:
            times[1] = f"~{times[1]}"
        yield _ROW(units.short(line.schema, 33), line.direction, *counts, *times, user)
    for whose, heading in (("code", "Your own code"), ("packages", "Code of installed packages")):
        if code := _functions(profile, whose):
            yield from ("", heading)
        for spent, label in code:
            yield f"  {units.time(spent):>8}  {units.short(label, WIDTH - 12)}"
    if outside := [line for line in profile.lines if line.outside_calls]:
        yield from ("", "Outside a plan, as a class's first calls are; explain says why")
    for line in outside:
        calls = f"{units.number(line.outside_calls)} of {units.number(line.calls)} calls"
        name = units.short(f"{line.schema}.{line.direction}", WIDTH - 38)
        yield f"  {units.time(line.outside):>8}  {name} ({calls})"
    if any(line.is_rough for line in profile.lines):
        yield from ("", *wrap(_ROUGHLY, WIDTH))
    if profile.note:
        yield from ("", *wrap(profile.note, WIDTH))


def _functions(profile: Profile, whose: str) -> list[tuple[float, str]]:
    """Return the functions that took most, with their seconds."""
    code = (
        (seconds, f"{units.short(line.schema, 30)}.{line.direction}: {name}")
        for line in profile.lines
        for name, seconds in getattr(line, whose).items()
    )
    return sorted(code, reverse=True)[:MOST_FUNCTIONS]


_Lines = dict[tuple[str, str], Line]
"""Of one measurement, by the class's qualified name, and by direction."""

_lock = threading.RLock()
_measuring: list[_Lines] = []
"""To which each call is added."""
_profiles = 0
_timed: _Lines = {}
"""What ``stats(timed=True)`` has measured."""


@contextmanager
def profile() -> Iterator[Profile]:
    """Measure where the time of dumps and loads goes, by schema class and user's function.

    Answers and exceptions stay the same. Each call takes 4 to 15 µs more meanwhile.

    :returns: a context manager that gives an object with ``lines``, ``as_text()`` and
        ``as_dict()``, filled when the ``with`` block ends.

    >>> with althaia.profile() as p:
    ...     OrderSchema(many=True).dump(orders)
    >>> print(p.as_text())
    """
    result = Profile()
    lines: _Lines = {}
    with ExitStack() as stack:
        if _has_plans():
            _watch_functions(1)
            stack.callback(_watch_functions, -1)
        else:
            result.note = _NO_PLANS
            _time_methods(stack)
        _switch(lines, True)
        stack.callback(_switch, lines, False)
        yield result
    for line in lines.values():
        line.settle()
    result.lines = sorted(lines.values(), key=lambda line: -line.own)


def _time_methods(stack: ExitStack) -> None:
    """Time the methods of the marshmallow that the program uses, until the stack is closed."""
    from marshmallow import Schema

    for name in TIMED:
        method = seam_layers.METHODS.get(name, name)
        theirs = vars(Schema)[method]
        stack.callback(setattr, Schema, method, theirs)
        setattr(Schema, method, _measured(name, theirs))


def _switch(lines: _Lines, on: bool) -> None:
    """Begin or stop adding calls to these lines."""
    with _lock:
        # By identity: dictionaries are compared by what is in them.
        _measuring[:] = [each for each in _measuring if each is not lines] + [lines] * on
        seam_layers.take(_layer)
        if _measuring:
            seam_layers.put(_layer)


def _layer(name: str, inner: seam_layers.Hook) -> seam_layers.Hook | None:
    if name == "validate":
        # Upstream's calls ``_do_load``, which is measured.
        return seam._OWN[name]
    return _measured(name, inner, upstream=True) if name in TIMED else None


def time_calls(on: bool) -> None:
    """Measure how long each call takes, from now on or no more."""
    if has_engine():
        _switch(_timed, on)


def seconds_by_class() -> dict[tuple[str, str], float]:
    """The seconds of all calls measured so far, by name of the class and ``dump`` or ``load``."""
    found: dict[tuple[str, str], float] = {}
    for (name, direction), line in list(_timed.items()):
        key = (name, direction.rstrip("s"))
        found[key] = found.get(key, 0.0) + line.seconds
    return found


def _has_plans() -> bool:
    if seam.modules:
        seam.load_engine()
    # Without modules it will be loaded with the first schema class.
    return not why_no_plans() and bool(seam.modules or redirect.is_patched())


# ---- Calls -----------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class _Call:
    """A call that is measured."""

    schema: Any
    direction: str
    around: _Call | None
    """The measured call inside which it is made."""
    declines: str = ""
    """The seam's function that declines once, because upstream's method calls it again."""
    ended: bool = False
    outside: bool = False
    inside: float = 0.0
    """The seconds that calls inside have taken, and that measuring them has."""
    overhead_inside: float = 0.0
    told: int = 0
    """How often CPython has told something of a function."""
    functions: int = 0
    """How often a function of the user's was entered from outside."""
    code: CodeType | None = None
    """The user's function that runs now, the outermost one."""
    depth: int = 0
    """How often that is entered; when it was first, and what ``inside`` and ``told`` were then."""
    entered: float = 0.0
    before: tuple[float, int] = (0.0, 0)
    # By identity: the hash of a code object is that of all its constants.
    used: dict[int, tuple[CodeType, float]] = field(default_factory=dict)

    @property
    def overhead(self) -> float:
        """The seconds that watching the user's functions has taken."""
        return _cost.told * (self.told - 2 * self.functions) + _cost.function * self.functions

    def is_inside_its_class(self) -> bool:
        call = self.around
        while call is not None:
            if type(call.schema) is type(self.schema) and call.direction == self.direction:
                return True
            call = call.around
        return False


_now: ContextVar[_Call | None] = ContextVar("althaia_profile", default=None)
"""The innermost measured call. Another thread, task or greenlet may call meanwhile."""


def _measured(name: str, inner: seam_layers.Hook, *, upstream: bool = False) -> seam_layers.Hook:
    """Return a function that measures the calls of another one.

    :param inner: a function of the seam, or a method of marshmallow's
    :param upstream: whether it is of the seam: marshmallow's method answers what it declines
    """

    def measured(schema: Any, *args: Any, **options: Any) -> Any:
        around = _now.get()
        if around is not None and around.ended:
            around = None
        if around is not None and around.schema is schema and around.code is None:
            # A part of that call, as upstream's `dumps` calls `dump`.
            if around.declines == name:
                around.declines = ""
                return seam.DECLINED
            result = inner(schema, *args, **options)
            around.outside |= result is seam.DECLINED
            return result
        call, result, arrived = _Call(schema, name, around), None, perf_counter()
        token = _now.set(call)
        watched = around is None and _begin()
        began = perf_counter()
        try:
            result = inner(schema, *args, **options)
            if upstream and result is seam.DECLINED:
                # Nothing would stop the clock at the end of upstream's method.
                call.declines = name
                call.outside = name in ("dump", "load")
                result = seam_layers.run_upstream(name, schema, args)
            return result
        finally:
            spent = perf_counter() - began
            if watched:
                sys.setprofile(None)
            call.ended = True
            _now.reset(token)
            given = args[0] if args else next(iter(options.values()), None)
            key = (f"{type(schema).__module__}.{type(schema).__qualname__}", name)
            with _lock:
                for lines in _measuring:
                    line = lines.setdefault(key, Line(*key))
                    line.add(call, spent, _objects_of(given, result))
            if around is not None:
                taken = perf_counter() - arrived
                around.inside += taken
                around.overhead_inside += taken - spent + call.overhead + call.overhead_inside

    return measured


def _objects_of(given: Any, result: Any) -> int:
    """Return how many objects a call was given. A named tuple is one."""
    for each in (given, result):
        if isinstance(each, list) or type(each) is tuple:
            return len(each)
    return 1


# ---- The user's functions --------------------------------------------------------------


@cache
def _is_users(file: str) -> bool:
    """Return whether a file's functions are neither ours, marshmallow's nor the standard
    library's."""
    for name in ("althaia", "marshmallow", "althaia.marshmallow", "os"):
        module: Any = sys.modules.get(name)
        if module and file.startswith(os.path.join(os.path.dirname(module.__file__), "")):
            return module is os and "site-packages" in file
    return not file.startswith(("<frozen", "<althaia"))


@dataclass
class _Cost:
    """The seconds that watching takes, as measured when a profile begins."""

    told: float = 0.0
    """Of one thing that CPython tells, if it is not of the user's function that is watched."""
    function: float = 0.0
    """Of one of the user's functions, and how much of that counts as the function's own."""
    within: float = 0.0


_cost = _Cost()


def _calibrate() -> None:
    """Measure what watching takes with functions that do nothing; for some milliseconds, so that a
    busy machine interrupts this as often as the calls."""
    if sys.getprofile() not in (None, _told):
        return  # Another profile function runs: nothing is told.
    # A file of its own: functions of this one are not the user's.
    users: Callable[[], None] = eval(compile("lambda: None", "<calibration>", "eval"))
    _cost.within = 0.0
    _cost.told = _middle(perf_counter)[0] / 2
    _cost.function, _cost.within = _middle(users)


def _middle(function: Callable[[], object]) -> tuple[float, float]:
    """Return the median of several measurements, because a busy machine interrupts some."""
    return sorted(_watched(function) for _ in range(21))[10]


def _watched(function: Callable[[], object]) -> tuple[float, float]:
    """Return what watching adds to a call of a function, and how much is in the function's time."""
    call, taken, before = _Call(None, "", None), [], sys.getprofile()
    token = _now.set(call)
    for told in (None, _told):
        sys.setprofile(told)
        began = perf_counter()
        for _ in range(CALIBRATION):
            function()
        taken.append(perf_counter() - began)
    sys.setprofile(before)
    _now.reset(token)
    within = sum(seconds for _, seconds in call.used.values())
    return max(taken[1] - taken[0], 0.0) / CALIBRATION, within / CALIBRATION


def is_own(file: str) -> bool:
    """Return whether a file is the user's own: of no library, and not ours."""
    return _is_users(file) and not (file.startswith("<") or _package_of(file))


@cache
def _package_of(file: str) -> str:
    """Return the distribution that has installed a file, "" if it is of the user's own."""
    for folder in ("site-packages", "dist-packages"):
        if folder in (parts := Path(file).parts):
            name = parts[parts.index(folder) + 1].removesuffix(".py")
            return f"{packages_distributions().get(name, [name])[0]}: "
    return ""


def _told(frame: FrameType, event: str, _: object) -> None:
    """A function begins or goes on after a ``yield``; or it ends, by an exception or a ``yield``
    too. Called so often that it calls as little as it can."""
    call = _now.get()
    if call is None:
        return
    call.told += 1
    if event == "call":
        code = frame.f_code
        if call.code is code:
            call.depth += 1
        elif call.code is None and _is_users(code.co_filename):
            call.code, call.depth, call.before = code, 1, (call.inside, call.told)
            call.functions += 1
            call.entered = perf_counter()
    elif event == "return" and call.code is frame.f_code:
        call.depth -= 1
        if call.depth == 0:
            code, (inside, told) = call.code, call.before
            taken = perf_counter() - call.entered - (call.inside - inside)
            taken -= _cost.within + _cost.told * (call.told - told - 1)
            earlier = call.used.get(id(code), (code, 0.0))[1]
            call.used[id(code)] = (code, earlier + taken)
            call.code = None


def _watch_functions(more: int) -> None:
    """Watch the user's functions for a profile more, or less. From CPython 3.12 on, let it tell
    those of all threads: switching this for each call would let it change its code for each."""
    global _profiles
    with _lock:
        _profiles += more
        if sys.version_info >= (3, 12) and sys.getprofile() in (None, _told):
            threading.setprofile_all_threads(_told if _profiles else None)
        if more > 0:
            _calibrate()


def _begin() -> bool:
    """Before CPython 3.12: let it tell the functions of this thread, unless it tells another."""
    if not _profiles or sys.version_info >= (3, 12) or sys.getprofile() is not None:
        return False
    sys.setprofile(_told)
    return True
