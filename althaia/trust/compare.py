"""Compare mode: for a sample of calls upstream's own code runs again on the same input.

The caller always gets the result of the plan. User code (hooks, validators, properties of objects)
runs twice in a compared call, and three times if the results differ: the plan then runs again, and
what differs from its own first result is not deterministic.
"""

import atexit
import logging
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from json import dumps, loads
from pathlib import Path
from random import Random
from threading import Lock
from time import monotonic, process_time, thread_time
from typing import Any, NamedTuple

from althaia import seam
from althaia.switch.config import settings
from althaia.switch.release import has_engine
from althaia.trust import seam_layers
from althaia.trust.differences import Difference, first_difference
from althaia.trust.input_copies import copy_of, is_one_shot
from althaia.trust.nested import schema_classes

logger = logging.getLogger("althaia.compare")

MOST_TIME = 2
"""The most processor time that compared calls take, as a multiple of the rate: 2 % at 0.01. A small
call of marshmallow's own code takes ten times as long as the plan, and comparing it as long again,
so that one call in a hundred alone would not keep the cost small."""
SECONDS_BETWEEN_LINES = 60
"""Of the counts in ``ALTHAIA_COMPARE_FILE``: what a process that is killed has not told."""
MOST_DIFFERENCES = 1_000
"""How many kinds of difference are kept; later ones are only counted."""

PLANNED = "planned"
UPSTREAM = "upstream"
running: ContextVar[str | None] = ContextVar("althaia_compare", default=None)
"""Which of its two runs a compared call is in. A context variable, so that other threads, tasks and
greenlets are not affected."""

CHOSEN = ("dump", "dumps", "serialize", "load", "loads")
"""The seam's functions whose calls are compared."""
_GO_ON = object()
"""The call is not compared. Not None, which may be the result of a call."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A difference: the argument of ``on_difference``."""

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
    def kind(self) -> tuple[str, str, str]:
        """What is equal for the same field of other records: such a difference is told once."""
        return self.schema, self.call, self.difference.place

    @property
    def command(self) -> str:
        """The command that reproduces it outside the service."""
        module, _, name = self.schema.rpartition(".")
        given = "--objects MODULE:NAME" if self.call.startswith("dump") else "--data FILE --load"
        return f"python -m althaia compare {module}:{name} {given}"

    def as_dict(self) -> dict[str, str]:
        """Return the same as plain data, ready for JSON."""
        return {
            "schema": self.schema,
            "call": self.call,
            **asdict(self.difference),
            "command": self.command,
        }

    def __str__(self) -> str:
        return (
            f"{self.schema}.{self.call} differs at {self.difference}. "
            f"To see it again: {self.command}"
        )


@dataclass
class Report:
    """The result of :func:`althaia.compare_report`."""

    rate: float = 0.0
    """The share of calls that are compared; 0 where compare mode is off."""
    compared: int = 0
    """Calls whose two results were compared."""
    different: int = 0
    """Those of them that differed."""
    not_deterministic: int = 0
    """Calls for which the plan returned another result when it ran again."""
    skipped: Counter[str] = field(default_factory=Counter)
    """Sampled calls that could not be compared, by reason."""
    findings: tuple[Finding, ...] = ()
    """The differences, one for each schema, call and path."""

    def as_dict(self) -> dict[str, Any]:
        """Return the same as plain data, ready for JSON."""
        findings = [each.as_dict() for each in self.findings]
        found = {**vars(self), "skipped": dict(self.skipped), "differences": findings}
        del found["findings"]
        return found

    def as_text(self) -> str:
        """Return the same for reading."""
        text = f"{self.compared:,} calls compared, {self.different:,} different"
        if self.not_deterministic:
            text += f", {self.not_deterministic:,} not deterministic"
        if self.skipped:
            reasons = (f"{count:,} {why}" for why, count in sorted(self.skipped.items()))
            text += f"; skipped: {', '.join(reasons)}"
        if self.rate and not seam.defined:
            text += "; this process runs no marshmallow of althaia's: call althaia.patch()"
        return "\n".join([text, *(f"  {each}" for each in self.findings)])


def sum_of(counts: Iterable[Mapping[str, Any]], findings: Iterable[Finding] = ()) -> Report:
    """Return the reports of several processes, as plain data, as one.

    :param findings: the differences, each kind once
    """
    whole = Report(findings=tuple(findings))
    for each in counts:
        for name in ("compared", "different", "not_deterministic"):
            setattr(whole, name, getattr(whole, name) + each[name])
        whole.skipped.update(each["skipped"])
    # A worker that was killed has not added its counts.
    whole.different = max(whole.different, len(whole.findings))
    return whole


_Outcome = tuple[Any, Exception | None]
"""A result, or what was raised instead."""


class Call(NamedTuple):
    """A call of one of the seam's functions, which can be made again."""

    name: str
    schema: Any
    args: tuple[Any, ...]

    def with_input(self, given: Any) -> "Call":
        """Return the same call with another input."""
        return self._replace(args=(given, *self.args[1:]))

    def copy(self) -> "Call":
        """Return the same call with a copy of its input."""
        return self.with_input(copy_of(self.args[0]))

    def outcome(self, turn: str) -> _Outcome:
        """Return the outcome of the plan; or of upstream's own code, while the seam declines."""
        token = running.set(turn)
        try:
            return seam_layers.run_upstream(*self), None
        except Exception as error:
            return None, error
        finally:
            running.reset(token)


class _Skipped(Exception):
    """A sampled call is not compared; the text is the reason."""


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class Session:
    """Compare mode, while it is on.

    :param rate: the share of calls that are compared, 0 to 1.
    :param on_difference: called with a :class:`Finding`, once for each schema, call and path.
    :param schemas: schema classes, or patterns of their qualified names; None: all.
    :ivar on_every: called with each finding, also with repeated ones.
    """

    def __init__(
        self,
        rate: float,
        on_difference: Callable[[Finding], object] | None = None,
        schemas: Iterable[Any] | None = None,
    ) -> None:
        self.rate = rate
        self.on_difference = on_difference
        self.on_every: Callable[[Finding], object] | None = None
        self.wanted = None if schemas is None else tuple(schemas)
        self.ended = self.next = 0.0
        # A generator of its own, so that the program's sequence of random numbers is unchanged.
        self.random = Random().random
        self.start_again()

    def start_again(self) -> None:
        """Begin with nothing, as a forked process does."""
        self.lock = Lock()
        self.found = Report(self.rate)
        self.findings: dict[tuple[str, str, str], Finding] = {}
        self.began, self.due = _now(), 0.0

    def write(self, *, ended: bool = False) -> None:
        """For ``ALTHAIA_COMPARE_FILE``: add a line with all counts of this process, and whether it
        has ended. A process that is killed has not said so."""
        if file := settings().compare_file:
            self.due = monotonic() + SECONDS_BETWEEN_LINES
            counted = self.report().as_dict()
            del counted["differences"]
            _append(file, {"began": self.began, "ended": ended, **counted})

    def layer(self, name: str, inner: seam_layers.Hook) -> seam_layers.Hook:
        """Stand around one of the seam's functions: it answers chosen calls by :meth:`take`, and
        does nothing while upstream's own code runs again."""
        nothing = seam._OWN[name]
        if name == "validate":
            # Upstream's code calls ``load``, which is compared.
            return nothing

        def hook(*args: Any) -> Any:
            turn = running.get()
            if turn == UPSTREAM:
                return nothing(*args)
            if turn is None and name in CHOSEN and self.random() < self.rate:
                answer = self.take(Call(name, args[0], args[1:]))
                if answer is not _GO_ON:
                    return answer
            return inner(*args)

        return hook

    def take(self, call: Call) -> Any:
        """Answer a chosen call, or return ``_GO_ON``."""
        if not self.wants(call.schema):
            return _GO_ON
        if monotonic() >= self.due:
            self.write()
        # In a forked process the clock begins again.
        if self.rate < 1 and self.ended <= process_time() < self.next:
            self.count("to limit the time that is spent")
            return _GO_ON
        began = thread_time()
        try:
            if not (reason := why_not(call)):
                return self.compare(call)
            self.count(reason)
            return _GO_ON
        finally:
            self.ended = process_time()
            self.next = self.ended + (thread_time() - began) / (MOST_TIME * self.rate)

    def count(self, reason: str) -> None:
        """Count a chosen call that is not compared."""
        with self.lock:
            self.found.skipped[reason] += 1

    def wants(self, schema: Any) -> bool:
        name = seam.full_name(type(schema))
        return self.wanted is None or any(
            fnmatchcase(name, each) if isinstance(each, str) else isinstance(schema, each)
            for each in self.wanted
        )

    def compare(self, call: Call) -> Any:
        """Return the planned result of a call after comparing it with that of upstream's code."""
        again = call.copy()
        planned = call.outcome(PLANNED)
        try:
            self.judge(again, planned)
        except _Skipped as skipped:
            self.count(str(skipped))
        return given(planned)

    def judge(self, call: Call, planned: _Outcome) -> None:
        """Run upstream's own code and record whether its result differs. If it does, the plan runs
        again: a difference that does not come back is none of the plan's.

        :raises _Skipped: the results cannot be compared; the text is the reason.
        """
        # Copy the input for the third run now: the second run may change it.
        third = call.copy()
        upstream = call.outcome(UPSTREAM)
        if isinstance(upstream[1], RecursionError):
            raise _Skipped("nested more deeply than marshmallow's own code can go")
        found = _difference(planned, upstream)
        if found is None:
            with self.lock:
                self.found.compared += 1
            return
        repeated = third.outcome(PLANNED)
        if _difference(planned, repeated) is None:
            self.tell(call, found)
            return
        if upstream[1] is not None and _difference(repeated, upstream) is None:
            raise _Skipped("whose user code does not repeat")
        with self.lock:
            self.found.not_deterministic += 1

    def tell(self, call: Call, difference: Difference) -> None:
        """Count a difference and report it, if it is the first of its kind."""
        said = {"serialize": "dump", "load": "load" if call.args[-1] else "validate"}
        schema_name = seam.full_name(type(call.schema))
        finding = Finding(schema_name, said.get(call.name, call.name), difference)
        with self.lock:
            self.found.compared += 1
            self.found.different += 1
            new = finding.kind not in self.findings and len(self.findings) < MOST_DIFFERENCES
            if new:
                self.findings[finding.kind] = finding
        if new:
            logger.error("%s", finding)
            if file := settings().compare_file:
                _append(file, finding.as_dict())
        for callback in (self.on_difference if new else None, self.on_every):
            try:
                if callback is not None:
                    callback(finding)
            except Exception:
                # It must not affect the compared call.
                logger.exception("on_difference raised; the caller has its result all the same")

    def report(self) -> Report:
        with self.lock:
            return replace(
                self.found,
                skipped=self.found.skipped.copy(),
                findings=tuple(self.findings.values()),
            )


def given(planned: _Outcome) -> Any:
    """Give the program the outcome of its call."""
    result, error = planned
    if error is None:
        return result
    try:
        raise error
    finally:
        # Break the reference cycle: the traceback refers to this frame.
        del error, planned


def _difference(planned: _Outcome, upstream: _Outcome) -> Difference | None:
    """Return the first difference between two outcomes.

    :raises _Skipped: a value cannot be compared.
    """
    one, other = (value if error is None else error for value, error in (planned, upstream))
    try:
        return first_difference(one, other)
    except Exception as problem:
        raise _Skipped(f"whose results cannot be compared ({type(problem).__name__})") from problem


def why_not(call: Call) -> str:
    """Return the reason why a call must not or cannot run a second time; "" if it can."""
    if is_one_shot(call.args[0]):
        return "with an input that can be read only once"
    # A schema of marshmallow-sqlalchemy creates or changes rows while it loads: a second run would
    # create a second row, which takes the related rows from the first one.
    registry = sys.modules["althaia.marshmallow.class_registry"].__dict__["_registry"]
    if call.name in ("load", "loads") and any(
        getattr(cls.opts, "load_instance", False) is True
        for cls in schema_classes(type(call.schema), registry)
    ):
        return "that load into a database session"
    return ""


_last = Session(0.0)


def compare(
    rate: float = 1.0,
    on_difference: Callable[[Finding], object] | None = None,
    schemas: Iterable[Any] | None = None,
) -> None:
    """Let upstream's own code answer a share of the calls, too, and say where it differs.

    The caller always gets what the plan gave. In a call that is compared user code (hooks,
    validators, properties) runs twice. A difference is told once for each schema, call and path,
    by the logger ``althaia.compare`` and by ``on_difference``. As ``ALTHAIA_COMPARE=0.01`` does.

    :param rate: the share of calls, 0.01 is one in a hundred; 0 switches it off.
    :param on_difference: called with an object that has ``schema``, ``call``, ``path``,
        ``difference`` and ``command``. What it raises is logged.
    :param schemas: only these: classes, or patterns like ``"shop.*"``.
    :raises ValueError: ``rate`` is no number from 0 to 1.

    >>> althaia.compare(0.01)
    """
    global _last
    if isinstance(rate, bool) or not isinstance(rate, (int, float)) or not 0 <= rate <= 1:
        raise ValueError(f"rate is the share of calls to compare, from 0 to 1, not {rate!r}")
    stop()
    if not rate:
        return
    _last = Session(float(rate), on_difference, schemas)
    # In a pure build there is nothing to compare. The profile stands around it.
    if has_engine():
        seam_layers.put(_last.layer, innermost=True)
    _last.write()


def session() -> Session:
    """Return compare mode as it was switched on last."""
    return _last


@atexit.register
def _end() -> None:
    if _last.found.rate:
        _last.write(ended=True)


def _begin_in_child() -> None:
    if _last.found.rate:
        _last.start_again()
        _last.write()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_in_child)


def _append(file: str, found: dict[str, Any]) -> None:
    """Append a line at once, so that lines of several processes do not mix."""
    stamped = {"at": _now(), "pid": os.getpid(), **found}
    # If it fails, the compared call must not. The logger has reported the same.
    with suppress(OSError), open(file, "ab", buffering=0) as target:
        target.write(f"{dumps(stamped)}\n".encode())


def read_file(file: Path) -> tuple[int, int, Report]:
    """Return how many processes have written to ``ALTHAIA_COMPARE_FILE``, which may not be there
    yet, how many of them have not ended (they run, or were killed), and their reports as one.

    :raises OSError: the file cannot be read
    :raises ValueError: a line is none of compare mode's
    """
    last: dict[tuple[int, str], dict[str, Any]] = {}
    findings: dict[tuple[str, str, str], Finding] = {}
    for line in file.read_text("utf-8").splitlines() if file.exists() else ():
        found = loads(line)
        try:
            if "path" in found:
                difference = Difference(found["path"], found["planned"], found["upstream"])
                finding = Finding(found["schema"], found["call"], difference)
                findings.setdefault(finding.kind, finding)
            else:
                sum_of([found])
                last[found["pid"], found["began"]] = found
        except (KeyError, TypeError):
            raise ValueError(f"{line[:80]!r} is no line of compare mode") from None
    unended = sum(not found["ended"] for found in last.values())
    return len(last), unended, sum_of(last.values(), findings.values())


def stop() -> None:
    """Switch compare mode off; its report remains available."""
    if _last.found.rate:
        seam_layers.take(_last.layer)
        _last.write(ended=True)
    _last.found.rate = 0.0


def compare_report() -> Report:
    """What has been compared since :func:`compare` was called last.

    :returns: an object with ``compared``, ``different``, ``not_deterministic``, ``skipped`` (by
        reason) and ``findings``, ``as_text()`` and ``as_dict()``.

    >>> althaia.compare_report().as_dict()["different"]
    0
    """
    return _last.report()
