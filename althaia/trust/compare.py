"""Compare mode: for a sample of calls upstream's own code runs a second time on the same input.

The caller always gets what the plan gave. User code (hooks, validators, properties of objects)
runs twice in a call that is compared, and three times where the results differ: what upstream's
own code does not give twice is told apart from what the plan got wrong.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from fnmatch import fnmatchcase
from random import Random
from threading import Lock
from typing import Any, Final

from althaia import seam
from althaia.trust import hooks
from althaia.trust.copies import copy_of, has_one_shot, is_one_shot
from althaia.trust.differences import (
    Difference,
    first_difference,
    first_difference_of_errors,
    first_difference_of_texts,
    shown,
)

logger = logging.getLogger("althaia.compare")

HEIGHT: Final = 10
MOST_DIFFERENCES: Final = 1_000
"""How many kinds of difference are kept; those after are counted."""

PLANNED: Final = "planned"
UPSTREAM: Final = "upstream"
_running: ContextVar[str | None] = ContextVar("althaia_compare", default=None)
"""Which of its two runs a compared call is in. A context is a thread's, a task's and a greenlet's
own: what another one does meanwhile runs as ever."""

# How upstream's method is called with what the seam's hook was given.
_CALLS: Final[dict[str, Callable[..., Any]]] = {
    "dump": lambda own, schema, obj, many: own["dump"](schema, obj, many=many),
    "serialize": lambda own, schema, obj, many: own["_serialize"](schema, obj, many=many),
    "dumps": lambda own, schema, obj, args, many, options: own["dumps"](
        schema, obj, *args, many=many, **options
    ),
    "dump_bytes": lambda own, schema, obj, many, options: schema.dumps(
        obj, many=many, **options
    ).encode(),
    "load": lambda own, schema, data, many, partial, unknown, postprocess: own["_do_load"](
        schema, data, many=many, partial=partial, unknown=unknown, postprocess=postprocess
    ),
    "loads": lambda own, schema, text, many, partial, unknown, options: own["loads"](
        schema, text, many=many, partial=partial, unknown=unknown, **options
    ),
}
_SAID: Final = {"serialize": "dump", "dump_bytes": "dumps"}


@dataclass(frozen=True, slots=True)
class Finding:
    """A wrong answer: what ``on_difference`` is called with."""

    schema: str
    """The qualified name of the schema's class."""
    call: str
    """``dump``, ``dumps``, ``load``, ``loads`` or ``validate``."""
    difference: Difference
    """The first place that differs, with both values."""

    @property
    def path(self) -> str:
        return self.difference.path

    @property
    def command(self) -> str:
        """How to see it again, away from the service."""
        module, _, name = self.schema.rpartition(".")
        given = "--objects MODULE:FACTORY" if self.call.startswith("dump") else "--data FILE --load"
        return f"python -m althaia compare {module}:{name} {given}"

    def __str__(self) -> str:
        return (
            f"{self.schema}.{self.call} differs at {self.difference}. "
            f"To see it again: {self.command}"
        )


@dataclass(frozen=True)
class Report:
    """The answer of :func:`althaia.compare_report`."""

    rate: float
    """The share of calls that are compared; 0 where compare mode is off."""
    compared: int
    """Calls whose two results were compared."""
    different: int
    """Those of them that differed."""
    not_deterministic: int
    """Those that upstream's own code answers differently each time: they say nothing."""
    skipped: dict[str, int]
    """Calls that were chosen and could not be compared, by reason."""
    findings: tuple[Finding, ...]
    """The differences, one for each schema, call and path."""

    def as_dict(self) -> dict[str, Any]:
        """The same as plain data, ready for JSON."""
        return {
            "rate": self.rate,
            "compared": self.compared,
            "different": self.different,
            "not_deterministic": self.not_deterministic,
            "skipped": dict(self.skipped),
            "differences": [
                {
                    "schema": each.schema,
                    "call": each.call,
                    "path": each.path,
                    "planned": each.difference.planned,
                    "upstream": each.difference.upstream,
                    "command": each.command,
                }
                for each in self.findings
            ],
        }

    def as_text(self) -> str:
        """The same for reading."""
        text = f"{self.compared:,} calls compared, {self.different:,} different"
        if self.not_deterministic:
            text += f", {self.not_deterministic:,} not deterministic"
        if self.skipped:
            reasons = ", ".join(f"{n:,} {why}" for why, n in sorted(self.skipped.items()))
            text += f"; skipped: {reasons}"
        return "\n".join([text, *(f"  {each}" for each in self.findings)])


@dataclass(frozen=True, slots=True)
class _Outcome:
    value: Any = None
    error: Exception | None = None

    @classmethod
    def of(cls, call: Callable[..., Any], *args: Any) -> _Outcome:
        try:
            return cls(call(*args))
        except Exception as error:
            return cls(error=error)

    def get(self) -> Any:
        if self.error is None:
            return self.value
        try:
            raise self.error
        finally:
            # The frame must not be kept alive by the traceback that it is part of.
            del self


class _Skipped(Exception):
    """A chosen call is not compared; the text is the reason."""


class Session:
    """Compare mode, while it is on.

    :param rate: the share of calls that are compared, 0 to 1.
    :param on_difference: called with a :class:`Finding`, once for each schema, call and path.
    :param schemas: schema classes, or patterns of their qualified names; None: all.
    :param on_every: called with each finding, also with those that were there before.
    """

    def __init__(
        self,
        rate: float,
        on_difference: Callable[[Finding], object] | None,
        schemas: Iterable[Any] | None,
        on_every: Callable[[Finding], object] | None = None,
    ) -> None:
        self.rate = rate
        self.on_difference = on_difference
        self.on_every = on_every
        self.wanted = None if schemas is None else tuple(schemas)
        self.lock = Lock()
        self.compared = self.different = self.not_deterministic = 0
        self.skipped: Counter[str] = Counter()
        self.findings: dict[tuple[str, str, str], Finding] = {}
        # The program's own sequence of random numbers stays as it is.
        self.random = Random().random

    def layer(self, name: str, inner: hooks.Hook) -> hooks.Hook | None:
        """What stands in the seam in the place of one of its functions."""
        if name == "construct":
            return lambda *args: _running.get() is not UPSTREAM and inner(*args)
        if name == "deserialize":
            return lambda *args: seam.DECLINED if _running.get() is UPSTREAM else inner(*args)
        rate, random, running, declined = self.rate, self.random, _running.get, seam.DECLINED

        def hook(schema: Any, *args: Any) -> Any:
            run = running()
            if run is UPSTREAM:
                return declined
            if run is PLANNED or random() >= rate or not self.wants(schema):
                return inner(schema, *args)
            return self.compare(name, schema, args, inner)

        return hook

    def wants(self, schema: Any) -> bool:
        if self.wanted is None:
            return True
        cls = type(schema)
        name = f"{cls.__module__}.{cls.__qualname__}"
        return any(
            fnmatchcase(name, each) if isinstance(each, str) else issubclass(cls, each)
            for each in self.wanted
        )

    def compare(self, name: str, schema: Any, args: tuple[Any, ...], inner: hooks.Hook) -> Any:
        """The planned result of a call, after it was compared with that of upstream's own code."""
        reason = _why_not(name, schema, args[0])
        if reason:
            with self.lock:
                self.skipped[reason] += 1
            return inner(schema, *args)
        again = (copy_of(args[0]), *args[1:])
        token = _running.set(PLANNED)
        try:
            # dump_bytes has no method of upstream's to call: where it declines, the caller does.
            planned = (
                _Outcome.of(inner, schema, *args)
                if name == "dump_bytes"
                else _Outcome.of(_run, name, schema, args)
            )
        finally:
            _running.reset(token)
        if planned.value is seam.DECLINED:
            return planned.value
        try:
            self.judge(name, schema, again, planned)
        except _Skipped as skipped:
            with self.lock:
                self.skipped[str(skipped)] += 1
        return planned.get()

    def judge(self, name: str, schema: Any, args: tuple[Any, ...], planned: _Outcome) -> None:
        """Run upstream's own code and say where its result differs.

        :raises _Skipped: nothing can be said; the text is the reason.
        """
        # What a first run leaves changed is not what the second one should be given.
        second = (copy_of(args[0]), *args[1:])
        upstream = _upstream(name, schema, args)
        found = _difference(planned, upstream)
        if found is None:
            with self.lock:
                self.compared += 1
            return
        if has_one_shot(args[0], schema):
            raise _Skipped("with an input that can be read only once")
        if _difference(upstream, _upstream(name, schema, second)) is not None:
            with self.lock:
                self.not_deterministic += 1
            return
        self.tell(name, schema, args, found)

    def tell(self, name: str, schema: Any, args: tuple[Any, ...], difference: Difference) -> None:
        """Count a difference and report it, if it is the first of its kind."""
        cls = type(schema)
        call = "validate" if name == "load" and not args[-1] else _SAID.get(name, name)
        finding = Finding(f"{cls.__module__}.{cls.__qualname__}", call, difference)
        key = (finding.schema, call, difference.kind)
        with self.lock:
            self.compared += 1
            self.different += 1
            new = key not in self.findings and len(self.findings) < MOST_DIFFERENCES
            if new:
                self.findings[key] = finding
        if new:
            logger.error("%s", finding)
        for callback in (self.on_difference if new else None, self.on_every):
            if callback is not None:
                _call(callback, finding)

    def report(self) -> Report:
        with self.lock:
            return Report(
                rate=self.rate if _session is self else 0.0,
                compared=self.compared,
                different=self.different,
                not_deterministic=self.not_deterministic,
                skipped=dict(self.skipped),
                findings=tuple(self.findings.values()),
            )


def _call(callback: Callable[[Finding], object], finding: Finding) -> None:
    """Call what must not harm the call that was compared."""
    try:
        callback(finding)
    except Exception:
        logger.exception("on_difference raised; the caller has its result all the same")


def _run(name: str, schema: Any, args: tuple[Any, ...]) -> Any:
    """Upstream's method, from its first statement on."""
    own = seam.pristine[seam.defined["schema"]["Schema"]]
    return _CALLS[name](own, schema, *args)


def _upstream(name: str, schema: Any, args: tuple[Any, ...]) -> _Outcome:
    """What upstream's own code gives: each hook of the seam declines meanwhile."""
    token = _running.set(UPSTREAM)
    try:
        outcome = _Outcome.of(_run, name, schema, args)
    finally:
        _running.reset(token)
    if isinstance(outcome.error, RecursionError):
        raise _Skipped("nested more deeply than marshmallow's own code can go")
    return outcome


def _difference(planned: _Outcome, upstream: _Outcome) -> Difference | None:
    """The first difference between two outcomes.

    :raises _Skipped: a value cannot be compared.
    """
    try:
        if planned.error is not None and upstream.error is not None:
            return first_difference_of_errors(planned.error, upstream.error)
        if planned.error is not None or upstream.error is not None:
            one, other = (
                shown(each.value) if each.error is None else f"raised {shown(each.error)}"
                for each in (planned, upstream)
            )
            return Difference("", one, other)
        if isinstance(planned.value, (str, bytes)) and isinstance(upstream.value, (str, bytes)):
            return first_difference_of_texts(planned.value, upstream.value)
        return first_difference(planned.value, upstream.value)
    except Exception as error:
        raise _Skipped(f"whose results cannot be compared ({type(error).__name__})") from error


def _why_not(name: str, schema: Any, given: Any) -> str:
    """Why a call must not, or cannot, run a second time; "" where it can."""
    if is_one_shot(given):
        return "with an input that can be read only once"
    if name in ("load", "loads") and any(map(_loads_instances, _schemas(schema))):
        return "that load into a database session"
    return ""


def _loads_instances(schema: Any) -> bool:
    """Whether a schema of marshmallow-sqlalchemy's makes or changes rows while it loads: a second
    row would take the related ones away from the first."""
    return getattr(schema.opts, "load_instance", False) is True


def _schemas(schema: Any, depth: int = 6) -> Iterator[Any]:
    """A schema and those nested in it: instances, or classes where there are none yet.

    Nobody's code is asked: what a name or a function stands for is not known before the call.
    """
    yield schema
    own = schema.load_fields if hasattr(schema, "load_fields") else schema._declared_fields
    for field in own.values() if depth else ():
        field = getattr(field, "inner", field)
        below = field.__dict__.get("_schema") or field.__dict__.get("nested")
        if hasattr(below, "opts"):
            yield from _schemas(below, depth - 1)


_session: Session | None = None
_last = Session(0.0, None, None)


def compare(
    rate: float = 1.0,
    on_difference: Callable[[Finding], object] | None = None,
    schemas: Iterable[Any] | None = None,
    *,
    on_every: Callable[[Finding], object] | None = None,
) -> None:
    """See :func:`althaia.compare`."""
    global _session, _last
    if isinstance(rate, bool) or not isinstance(rate, (int, float)) or not 0 <= rate <= 1:
        raise ValueError(f"rate is the share of calls to compare, from 0 to 1, not {rate!r}")
    stop()
    if not rate:
        return
    _session = _last = Session(float(rate), on_difference, schemas, on_every)
    hooks.put(_session.layer, HEIGHT)


def compare_if_off(rate: float) -> None:
    """What ``ALTHAIA_COMPARE`` asks for, where the program has not asked for anything itself."""
    if _session is None:
        compare(rate)


def stop() -> None:
    """Switch compare mode off; its report stays."""
    global _session
    if _session is not None:
        hooks.take(_session.layer)
        _session = None


def report() -> Report:
    """See :func:`althaia.compare_report`."""
    return _last.report()
