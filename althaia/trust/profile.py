"""Profile: where the time of dumps and loads goes, by schema class and user's code.

Nothing of it stands in the engine. Each call is timed around the seam's function, and CPython tells
which Python functions run inside it: by ``sys.monitoring``, before 3.12 by ``sys.setprofile``.
Compiled code has no such functions, so that what is left is marshmallow's own work.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field
from functools import wraps
from importlib import import_module
from threading import RLock
from time import perf_counter, process_time
from typing import Any, Final

from althaia import seam
from althaia.switch.release import has_engine
from althaia.trust import profile_views, seam_layers

DIRECTIONS: Final = {
    "dump": "dump",
    "dumps": "dumps",
    "dump_bytes": "dumps",
    "load": "load",
    "_do_load": "load",
    "loads": "loads",
}
"""By the name of the seam's function or of marshmallow's method."""

NO_PLAN_YET = (
    "no plan yet: one is made at the sixteenth call, at about the twelfth where each makes an "
    "instance, and not for an instance whose fields were looked at before its first call"
)


@dataclass
class Line:
    """One schema class in one direction. Times are in seconds.

    ``seconds`` is all; ``own`` is without the calls of other schemas inside, except those that the
    plan itself makes for nested schemas. Of ``own``, ``user`` is the user's code. ``outside`` is
    what the ``outside_calls`` took, which marshmallow's own code answered.
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
    code: dict[str, float] = field(default_factory=dict)
    """Seconds of the user's code, by function."""
    why: tuple[str, ...] = ()
    """What runs outside a plan, with the reasons."""

    @classmethod
    def of(cls, schema: str, direction: str, counted: Any, why: tuple[str, ...]) -> Line:
        """Make a line of what was counted in nanoseconds."""
        most_first = sorted(counted.code.items(), key=lambda each: -each[1])
        code = {
            f"{name} ({os.path.basename(file)}:{first})": spent / 1e9
            for (file, first, name), spent in most_first
        }
        total, own, user, outside = (
            each / 1e9 for each in (counted.total, counted.own, counted.user, counted.outside)
        )
        counts = (counted.calls, counted.objects, total, own, user, counted.outside_calls)
        return cls(schema, direction, *counts, outside, code, why)


class Profile:
    """What was measured. Filled when the ``with`` block ends.

    :ivar lines: a :class:`Line` for each schema class and direction, most expensive first.
    :ivar processor: the seconds of processor time that the whole process took meanwhile.
    :ivar note: what this profile cannot tell, else "".
    """

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self.processor = 0.0
        self.note = ""

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as values that JSON knows."""
        return {
            "lines": [asdict(line) for line in self.lines],
            "processor": self.processor,
            "note": self.note,
        }

    def as_text(self) -> str:
        """Tables of at most 80 columns."""
        return profile_views.text(self)

    def as_html(self) -> str:
        """Return a page with bars, complete in itself."""
        return profile_views.html(self)

    def __repr__(self) -> str:
        return f"<Profile of {len(self.lines)} schemas and directions>"


# ---- Where plans run -------------------------------------------------------------------

_lock = RLock()
_profiles = 0
_timed: Any = None
"""What ``stats(timed=True)`` has measured; None before it was first asked."""


@contextmanager
def profile() -> Iterator[Profile]:
    """Measure where the time of dumps and loads goes, by schema class and user's function.

    Answers and exceptions stay the same. Each call takes about 0.7 µs more meanwhile.

    :returns: a context manager that gives an object with ``lines``, ``as_text()``, ``as_dict()``
        and ``as_html()``, filled when the ``with`` block ends.

    >>> with althaia.profile() as p:
    ...     OrderSchema(many=True).dump(orders)
    >>> print(p.as_text())
    """
    result = Profile()
    began = process_time()
    measure = _measured if _has_plans() else _measured_without_plans
    with measure(result):
        yield result
    result.processor = process_time() - began
    result.lines.sort(key=lambda line: -line.own)


@contextmanager
def _measured(result: Profile) -> Iterator[None]:
    global _profiles
    door = _door()
    lines = door.Lines()
    with _lock:
        _profiles += 1
        if _profiles == 1 and not door.watch_functions(True):
            result.note = "Your own code is not told: CPython has no place for one more profiler."
        _switch(lines, True)
    try:
        yield
    finally:
        with _lock:
            _profiles -= 1
            if _profiles == 0:
                door.watch_functions(False)
            _switch(lines, False)
        for (module, name, direction), counted in lines.found.items():
            why = tuple(_outside(counted, direction))
            result.lines.append(Line.of(f"{module}.{name}", direction, counted, why))


def _door() -> Any:
    return import_module("althaia.engine.door")


def _switch(lines: Any, on: bool) -> None:
    """Begin or stop adding calls to these lines."""
    seam_layers.take(_layer)
    if lines.switch(on):
        seam_layers.put(_layer)


def _layer(name: str, inner: seam_layers.Hook) -> seam_layers.Hook | None:
    if name == "validate":
        # Upstream's calls ``_do_load``, which is measured.
        return lambda *args: seam.DECLINED
    if name not in DIRECTIONS:
        return None
    measured: Callable[..., seam_layers.Hook] = _door().measured
    return measured(name, DIRECTIONS[name], inner, seam_layers.run_upstream)


def time_calls(on: bool) -> None:
    """Measure how long each call takes, from now on or no more."""
    global _timed
    if not has_engine():
        return
    with _lock:
        if _timed is None:
            _timed = _door().Lines()
        _switch(_timed, False)
        if on:
            _switch(_timed, True)


def seconds_by_class() -> dict[tuple[str, str], float]:
    """The seconds of all calls measured so far, by name of the class and ``dump`` or ``load``."""
    found: dict[tuple[str, str], float] = {}
    for (module, name, direction), line in [] if _timed is None else list(_timed.found.items()):
        key = (f"{module}.{name}", direction.rstrip("s"))
        found[key] = found.get(key, 0.0) + line.total / 1e9
    return found


def _has_plans() -> bool:
    if not has_engine():
        return False
    if seam.modules:
        seam.load_engine()
    elif "althaia.marshmallow" not in sys.modules and _redirected():
        return True
    return not seam.failure and not seam.no_engine and bool(seam.modules)


def _redirected() -> bool:
    from althaia.switch import redirect
    from althaia.switch.config import settings

    return settings().plans and redirect.is_patched()


def _outside(counted: Any, direction: str) -> Iterator[str]:
    """What of a class runs outside a plan, and why."""
    from althaia.engine import outside
    from althaia.engine.planner import build

    cls = counted.schema_class()
    if cls is None:
        return
    try:
        left = list(outside.parts(build(cls(), direction.rstrip("s"))))
    except Exception as error:
        left = [f"unknown: {cls.__name__}() raised {type(error).__name__}"]
    yield from left
    if counted.outside_calls and not left:
        yield NO_PLAN_YET


# ---- Without plans ---------------------------------------------------------------------

_NOTE = "No plans run here: calls are timed as a whole, and nothing is known of your own code."


@contextmanager
def _measured_without_plans(result: Profile) -> Iterator[None]:
    """Time the methods of the marshmallow that the program uses."""
    import marshmallow

    lines: dict[tuple[str, str], Line] = {}
    owner: Any = marshmallow.Schema
    replaced = {name: vars(owner)[name] for name in ("dump", "dumps", "_do_load", "loads")}
    for name, method in replaced.items():
        setattr(owner, name, _timed_method(DIRECTIONS[name], method, lines))
    try:
        yield
    finally:
        for name, method in replaced.items():
            setattr(owner, name, method)
        result.note = _NOTE
        result.lines = list(lines.values())


_inside: ContextVar[list[Any] | None] = ContextVar("althaia_profile", default=None)
"""The schema of the innermost call, and the seconds that calls inside it took."""


def _timed_method(
    direction: str, method: Callable[..., Any], lines: dict[tuple[str, str], Line]
) -> Callable[..., Any]:
    @wraps(method)
    def timed(self: Any, given: Any, *args: Any, **options: Any) -> Any:
        around = _inside.get()
        if around is not None and around[0] is self:
            # A part of that call: ``dumps`` calls ``dump``.
            return method(self, given, *args, **options)
        call = [self, 0.0]
        token = _inside.set(call)
        result = None
        began = perf_counter()
        try:
            result = method(self, given, *args, **options)
            return result
        finally:
            spent = perf_counter() - began
            _inside.reset(token)
            if around is not None:
                around[1] += spent
            key = (f"{type(self).__module__}.{type(self).__qualname__}", direction)
            line = lines.setdefault(key, Line(*key))
            line.calls += 1
            line.objects += next(map(len, filter(_is_many, (given, result))), 1)
            line.seconds += spent
            line.own += spent - call[1]
            line.outside_calls, line.outside = line.calls, line.own

    return timed


def _is_many(value: Any) -> bool:
    return isinstance(value, list) or type(value) is tuple
