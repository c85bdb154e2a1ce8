"""Profile: where the time of dumps and loads goes, by schema class and field.

Compiled code has no frames that a profiler could see, so the engine measures itself. Where no plans
run, marshmallow's own methods are timed as a whole.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from threading import RLock
from typing import Any

from althaia import seam
from althaia.trust import profile_views

DIRECTIONS = ("dump", "dumps", "load", "loads")
MOST = 10
"""So many fields are listed."""

NO_PLAN_YET = (
    "one is made at the sixteenth use, at about the twelfth where each call makes an instance, and "
    "not for an instance whose fields were looked at before its first call"
)


@dataclass(frozen=True)
class Line:
    """One schema class in one direction. Times are in seconds.

    ``seconds`` is all; ``own`` is without nested schemas. Of ``own``, ``user`` is the user's code,
    ``reading`` is reading attributes or keys, ``text`` is parsing or writing. ``outside`` is what
    marshmallow's own code took for the ``outside_calls``.
    """

    schema: str
    direction: str
    calls: int
    objects: int
    seconds: float
    own: float
    user: float
    reading: float
    text: float
    outside_calls: int
    outside: float
    code: dict[str, float] = field(default_factory=dict)
    """Seconds of the user's code, by field, hook or validator."""
    why: tuple[str, ...] = ()
    """What runs outside a plan, with the reasons."""


@dataclass(frozen=True)
class Field:
    """A field, and the seconds in which it was read and converted."""

    schema: str
    direction: str
    name: str
    seconds: float
    values: int


class Profile:
    """What was measured. Filled when the ``with`` block ends.

    :ivar lines: a :class:`Line` for each schema class and direction, most expensive first.
    :ivar fields: the ten most expensive fields, as :class:`Field`.
    :ivar note: what this profile cannot tell, else "".
    """

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self.fields: list[Field] = []
        self.note = ""

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as values that JSON knows."""
        return {
            "lines": [asdict(line) for line in self.lines],
            "fields": [asdict(each) for each in self.fields],
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


_lock = RLock()
_running = 0
_calls_timed = False


@contextmanager
def profile() -> Iterator[Profile]:
    """Measure where the time of dumps and loads goes, by schema class, field and user's code.

    Answers and exceptions stay the same. Calls become about a tenth slower meanwhile.

    :returns: a context manager that gives an object with ``lines``, ``fields``, ``as_text()``,
        ``as_dict()`` and ``as_html()``, filled when the ``with`` block ends.

    >>> with althaia.profile() as p:
    ...     OrderSchema(many=True).dump(orders)
    >>> print(p.as_text())
    """
    result = Profile()
    measure = _measured if _has_plans() else _timed_as_a_whole
    with measure(result):
        yield result


def time_calls(on: bool) -> None:
    """Measure how long each call takes, from now on or no more."""
    global _calls_timed
    with _lock:
        _calls_timed = on
        _switch()


def seconds_by_class() -> dict[tuple[str, str], float]:
    """The seconds of all calls measured so far, by name of the class and ``dump`` or ``load``."""
    found: dict[tuple[str, str], float] = {}
    for _, key, counted, _ in _read():
        name = (key[0], key[1].rstrip("s"))
        found[name] = found.get(name, 0.0) + _line(key, counted, ()).seconds
    return found


def _has_plans() -> bool:
    if seam.modules:
        seam.load_engine()
    elif "althaia.marshmallow" not in sys.modules and _redirected():
        return _engine() is not None
    return _engine() is not None and not seam.failure and not seam.no_engine and bool(seam.modules)


def _redirected() -> bool:
    from althaia.switch import redirect
    from althaia.switch.config import settings

    return settings().plans and redirect.is_patched()


def _engine() -> Any:
    from althaia.switch.release import has_engine

    if not has_engine():
        return None
    from importlib import import_module

    return import_module("althaia.engine.plan")


def _switch() -> None:
    engine = _engine()
    if engine is not None:
        engine.measure(_calls_timed, _running > 0)


@contextmanager
def _measured(result: Profile) -> Iterator[None]:
    global _running
    before = {(id(cls), key): counted for cls, key, counted, _ in _read()}
    with _lock:
        _running += 1
        _switch()
    try:
        yield
    finally:
        with _lock:
            _running -= 1
            _switch()
        _fill(result, before)


def _read() -> list[tuple[type, tuple[str, str], dict[str, Any], str]]:
    if _engine() is None:
        return []
    from althaia.engine.plan import timings_by_class

    return [
        (cls, (f"{cls.__module__}.{cls.__qualname__}", direction), counted, why)
        for cls, direction, counted, why in timings_by_class()
    ]


def _fill(result: Profile, before: dict[Any, dict[str, Any]]) -> None:
    lines, fields = [], []
    for cls, key, counted, _ in _read():
        spent = _less(counted, before.get((id(cls), key)))
        if spent["calls"] + spent["nested"] + spent["outside"] + spent["objects"] == 0:
            continue
        lines.append(_line(key, spent, tuple(_outside(cls, key[1].rstrip("s"), spent))))
        fields += [
            Field(*key, name, place["spent"] / 1e9, place["count"])
            for (kind, name), place in spent["places"].items()
            if kind == "field" and place["count"]
        ]
    result.lines = sorted(lines, key=lambda line: -line.own)
    result.fields = sorted(fields, key=lambda each: -each.seconds)[:MOST]


def _less(now: dict[str, Any], before: dict[str, Any] | None) -> dict[str, Any]:
    """Return what was counted since then."""
    if before is None:
        return now
    return {
        name: (
            {each: _less(value[each], before[name].get(each)) for each in value}
            if name == "places"
            else value - before[name]
        )
        for name, value in now.items()
    }


def _line(key: tuple[str, str], spent: dict[str, Any], why: tuple[str, ...]) -> Line:
    """Make a line of what was counted.

    Calls were measured exactly, what is inside them in a sample: this only says how a call's time
    is divided.
    """
    places = spent["places"]
    hooks = sum(place["spent"] for (kind, _), place in places.items() if kind == "hook")
    planned = spent["calls"] + spent["nested"]
    hooks_nested = hooks * spent["nested"] / planned if planned else 0
    body = max(spent["spent"] - (hooks - hooks_nested) - spent["parsing"], 0)
    share = spent["root_inside"] / spent["root_objects"] if spent["root_objects"] else 0
    nested = spent["nested_own"] + hooks_nested
    own = max(spent["spent"] - body * min(share, 1), 0) + nested + spent["outside_own"]
    total = spent["spent"] + spent["outside_spent"] + spent["nested_objects"] + hooks_nested
    # A ``dumps`` that makes dictionaries adds its objects and hooks to this line, not its time.
    user = hooks + sum(place["own"] for (kind, _), place in places.items() if kind == "field")
    user = min(user, own)
    reading = min(spent["reading"], own - user)
    return Line(
        *key,
        calls=planned + spent["outside"],
        objects=spent["objects"],
        seconds=max(total, own) / 1e9,
        own=own / 1e9,
        user=user / 1e9,
        reading=reading / 1e9,
        text=min(spent["parsing"] + spent["writing"], own - user - reading) / 1e9,
        outside_calls=spent["outside"],
        outside=spent["outside_own"] / 1e9,
        code=_code(places),
        why=why,
    )


def _code(places: dict[tuple[str, str], dict[str, int]]) -> dict[str, float]:
    """Seconds of each piece of the user's code, most first. Validators are not in their field's."""
    used = {
        (kind, name): place["own"] if kind == "field" else place["spent"]
        for (kind, name), place in places.items()
    }
    for (kind, name), place in places.items():
        of_field = ("field", name.partition(": ")[0])
        if kind == "validator" and of_field in used:
            used[of_field] -= place["spent"]
    found = [(f"{kind} {name}", spent / 1e9) for (kind, name), spent in used.items() if spent > 0]
    return dict(sorted(found, key=lambda entry: -entry[1]))


def _outside(cls: Any, direction: str, spent: dict[str, Any]) -> Iterator[str]:
    """What of a class runs outside a plan, and why."""
    from althaia.engine import outside
    from althaia.engine.planner import build

    try:
        left = list(outside.parts(build(cls(), direction)))
    except Exception as error:
        left = [f"unknown: {cls.__name__}() raised {type(error).__name__}"]
    yield from left
    if spent["outside"] and not left:
        yield f"{spent['outside']} calls without a plan: {NO_PLAN_YET}"


# ---- Without plans ---------------------------------------------------------------------

_NOTE = (
    "No plans run here: calls are timed as a whole, and nothing is known of fields, hooks or "
    "what nested schemas take."
)


@contextmanager
def _timed_as_a_whole(result: Profile) -> Iterator[None]:
    """Time the methods of the marshmallow that the program uses."""
    import marshmallow

    spent: dict[tuple[str, str], list[float]] = {}
    replaced = {name: vars(marshmallow.Schema)[name] for name in DIRECTIONS}
    for name, method in replaced.items():
        setattr(marshmallow.Schema, name, _timed(name, method, spent))
    try:
        yield
    finally:
        for name, method in replaced.items():
            setattr(marshmallow.Schema, name, method)
        result.note = _NOTE
        lines = [
            Line(*key, int(calls), int(objects), took, took, 0.0, 0.0, 0.0, int(calls), took)
            for key, (calls, objects, took) in spent.items()
        ]
        result.lines = sorted(lines, key=lambda line: -line.seconds)


def _timed(
    name: str, method: Callable[..., Any], spent: dict[tuple[str, str], list[float]]
) -> Callable[..., Any]:
    from functools import wraps
    from time import perf_counter

    @wraps(method)
    def timed(self: Any, *args: Any, **options: Any) -> Any:
        began = perf_counter()
        result = None
        try:
            result = method(self, *args, **options)
            return result
        finally:
            key = (f"{type(self).__module__}.{type(self).__qualname__}", name)
            line = spent.setdefault(key, [0, 0, 0.0])
            line[0] += 1
            line[1] += len(result) if isinstance(result, list) else 1
            line[2] += perf_counter() - began

    return timed
