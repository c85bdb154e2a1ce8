"""Run one scenario on marshmallow and on ``althaia.marshmallow``; whatever differs fails.

A test of ``(ma, log, ...)`` in this folder is a scenario (``conftest.py``)::

    def test_bytes_become_text(ma, log):
        return ma.Schema.from_dict({"f": ma.fields.String()})().dump({"f": b"x"})

``ma`` is the library, ``log`` records what happens on the way (see :class:`Log`). Returned
and raised values, the log, warnings and watched objects are compared. Our copy runs every scenario
with plans built at first use, with upstream's own code alone (a pure build only so) and, where it
dumps or loads, with ``schema.dumps`` or ``schema.loads`` in the place of each ``schema.dump`` or
``schema.load``.
"""

import contextlib
import functools
import inspect
import re
import sys
import traceback
import warnings
from dataclasses import dataclass, field
from types import CodeType, FunctionType
from unittest import mock

import marshmallow as upstream
import pytest

from althaia import marshmallow as ours, seam
from tests.conformance import differ
from tests.conformance.describe import Describer, Description
from tests.conformance.text import loads_for_load, without_notes
from tests.conformance.versions import is_numbered, renew
from tests.engine import NEEDS_ENGINE

if upstream is ours or not upstream.__spec__ or upstream.Schema is ours.Schema:
    raise RuntimeError(
        "The conformance tests need the real marshmallow under its own name; this process is "
        "patched. Run them without `-p althaia.pytest_plugin` and without ALTHAIA_PATCH."
    )

for _library in (upstream, ours):
    for _name in ("class_registry", "error_store", "fields", "schema", "utils", "validate"):
        __import__(f"{_library.__name__}.{_name}")

# pytest leaves this module's frames out of tracebacks: they say nothing of what differs.
__tracebackhide__ = True


@dataclass
class Outcome:
    """Everything one run of a scenario showed."""

    result: Description = ()
    error: Description = ()
    log: list[Description] = field(default_factory=list)
    warnings: list[Description] = field(default_factory=list)
    watched: list[Description] = field(default_factory=list)


class MisusedLog(BaseException):
    """A scenario that is wrong in itself. No ``Exception``: that would be a result to compare."""


class Log:
    """What a scenario uses to show what happened while it ran.

    ``log("event", value)`` records the values as they are at that moment.
    """

    def __init__(self, library):
        self._describe = Describer(getattr(library, "missing", None))
        self._stack = contextlib.ExitStack()
        self._watched = []
        self.outcome = Outcome()

    def __call__(self, event, *values):
        """Record ``event`` with a snapshot of ``values``."""
        if type(event) is not str:
            raise MisusedLog(f"an event is a name, and not {event!r}; what is compared comes after")
        self.outcome.log.append((event, *self._describe(*values)))

    def watch(self, value):
        """Compare ``value`` once more when the scenario is over, to see side effects on it."""
        self._watched.append(value)
        return value

    def attempt(self, function, *args, **kwargs):
        """Call ``function`` and record what it returned or raised; the scenario goes on."""
        try:
            value = function(*args, **kwargs)
        except Exception as error:
            if type(error) is NameError and _is_of_a_text(error):
                raise  # The test's own mistake would be the same on both sides.
            self("raised", error)
            return error
        self("returned", value)
        return value

    def spy(self, name, function):
        """``function``, recording its arguments on every call."""

        def spied(*args, **kwargs):
            self(name, args, kwargs)
            return function(*args, **kwargs)

        return spied

    def hook(self, name):
        """A hook of a schema that records what it is given, and passes it on."""

        def hook(schema, data, *more, **options):
            self(name, data, more, options)
            return data

        return hook

    def patch(self, target, name, value):
        """Set ``target.name`` until the end of the scenario (for the library's own classes)."""
        return self._stack.enter_context(mock.patch.object(target, name, value, create=True))

    def at_end(self, function):
        """Call ``function`` at the end of the scenario, whatever happens in it."""
        self._stack.callback(function)

    def close(self):
        self._stack.close()
        self.outcome.watched = [self._describe(value) for value in self._watched]

    def returned(self, value):
        self.outcome.result = self._describe(value)

    def raised(self, error):
        self.outcome.error = self._describe(error)


try:
    from althaia.engine import door as engine, instances
except ImportError:
    engine = planner = None


def _is_of_a_text(error):
    """Whether text that a test executes has raised an error."""
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    return frame.f_code.co_filename == "<string>"


MODES = ["no-plans"] if engine is None else ["plans", "no-plans"]
FIRST_USES = "first-uses"
FROM_FIRST_USE = MODES if engine is None else [*MODES, FIRST_USES]
"""A file's ``MODES`` whose scenarios run also as a schema's first calls, which have no plan."""
TEXT = "text"
"""``schema.dumps`` stands in the place of ``schema.dump``."""
FROM_TEXT = "from-text"
"""``schema.loads`` stands in the place of ``schema.load``."""


@contextlib.contextmanager
def plans_at_once():
    """Plan each schema when it is first used, where the engine would rather wait."""
    renew(ours.Schema)
    assert is_numbered(ours.Schema), "nothing will be planned"
    instances.build_at_once(True)
    try:
        yield
    finally:
        instances.build_at_once(False)


@contextlib.contextmanager
def plans_off():
    """Leave every call to upstream's code in our copy, as ``ALTHAIA_PLANS=0`` does."""
    # If the engine were loaded inside, its hooks would be taken away again for all later tests.
    seam.load_engine()
    with mock.patch.multiple(seam, **dict.fromkeys(seam._OWN)):
        seam.without_engine()
        yield


@contextlib.contextmanager
def _own_registry(library):
    # Scenarios reuse class names; the registry keeps the first class of a name and module.
    registry = getattr(getattr(library, "class_registry", None), "_registry", {})
    saved = dict(registry)
    registry.clear()
    try:
        yield
    finally:
        registry.clear()
        registry.update(saved)


def run(function, library, **arguments):
    """What ``function`` showed when run on ``library``."""
    log = Log(library)
    with warnings.catch_warnings(record=True) as caught, _own_registry(library):
        warnings.simplefilter("always")
        # The collector may end here what another test has left open.
        warnings.simplefilter("ignore", ResourceWarning)
        try:
            log.returned(function(library, log, **arguments))
        except Exception as error:
            log.raised(error)
        finally:
            log.close()
    log.outcome.warnings = [
        (warning.category.__name__, _ADDRESS.sub(" at 0x…", str(warning.message)))
        for warning in caught
    ]
    return log.outcome


# In the representation of a function of the scenario, which each run defines anew.
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+\b")


def check(expected, actual, function, arguments):
    """Fail where two outcomes differ, with the input and the first difference.

    :raises differ.Differ: once the scenario ran again, on upstream, to see what it gives it.
    """
    if expected == actual:
        return

    def watched(ma, log, **given):
        logged = log.outcome.log
        with differ.recorded_calls(ma, lambda: len(logged)) as found:
            calls.append(found)
            return function(ma, log, **given)

    calls = []
    run(watched, upstream, **arguments)
    raise differ.explain(expected, actual, calls[0])


# ---- Through text ---------------------------------------------------------------------

# The bodies of classes have it not.
_OPTIMIZED = inspect.CO_OPTIMIZED


def _placeholder(value):
    """What stands in the text for a value that JSON has no form for."""
    return f"<{type(value).__name__}>"


def _dumped_text(self, obj, **options):
    with without_notes():
        return self.dumps(obj, default=_placeholder, **options)


def _renamed(code):
    """The code with ``dumped_text`` for ``dump``, but for the bodies of classes in it."""
    return code.replace(
        co_names=tuple("dumped_text" if name == "dump" else name for name in code.co_names),
        co_consts=tuple(
            _renamed(each) if isinstance(each, CodeType) and each.co_flags & _OPTIMIZED else each
            for each in code.co_consts
        ),
    )


def _mentions(code, name):
    return name in code.co_names or any(
        isinstance(each, CodeType) and each.co_flags & _OPTIMIZED and _mentions(each, name)
        for each in code.co_consts
    )


def through_text(function):
    """The scenario with ``schema.dumps`` in the place of each ``schema.dump``."""
    assert isinstance(function, FunctionType)
    changed = FunctionType(
        _renamed(function.__code__),
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )

    @functools.wraps(function)
    def text(ma, log, **arguments):
        with mock.patch.object(ma.Schema, "dumped_text", _dumped_text, create=True):
            return changed(ma, log, **arguments)

    return text


_last = None


def _expected(function, arguments):
    """What upstream showed, kept until another scenario runs: the next mode is compared with it."""
    global _last
    if (
        _last is None
        or _last[0] is not function
        or any(_last[1][name] is not value for name, value in arguments.items())
    ):
        _last = None
        _last = function, arguments, run(function, upstream, **arguments)
    return _last[2]


def compare(function, mode=MODES[0], **arguments):
    """Fail the test when the two libraries differ in ``function``.

    :raises differ.Differ: with the input and the first difference.
    """
    if mode == TEXT:
        function = through_text(function)
    if mode == FROM_TEXT:
        with loads_for_load(upstream) as texts:
            expected = run(function, upstream, **arguments)
        if not texts:
            return
    else:
        expected = _expected(function, arguments)
    with contextlib.ExitStack() as stack:
        if mode == FROM_TEXT:
            stack.enter_context(loads_for_load(ours))
        if mode != FIRST_USES:
            stack.enter_context(plans_off() if mode == "no-plans" else plans_at_once())
        actual = run(function, ours, **arguments)
    check(expected, actual, function, arguments)


def scenario(function, modes=MODES):
    """Make a test of ``function(ma, log, **parameters)``; parameters come from pytest."""
    parameters = list(inspect.signature(function).parameters.values())[2:]
    if engine is not None and isinstance(function, FunctionType):
        names = {TEXT: "dump", FROM_TEXT: "load"}
        modes = [*modes, *(m for m, name in names.items() if _mentions(function.__code__, name))]

    def test(mode, **arguments):
        compare(function, mode, **arguments)

    for name in ("__name__", "__qualname__", "__module__", "__doc__"):
        setattr(test, name, getattr(function, name))
    switch = inspect.Parameter("mode", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    test.__signature__ = inspect.Signature([switch, *parameters])
    test = pytest.mark.parametrize("mode", modes)(test)
    test.pytestmark += getattr(function, "pytestmark", [])
    return test


def table(function):
    """As :func:`scenario`, for long tables of values: they run once, with plans."""
    return NEEDS_ENGINE(scenario(function, MODES[:1]))


def libraries():
    """The real marshmallow and our copy of it."""
    return upstream, ours


def is_compiled():
    """Whether our copy's modules are extension modules in this process."""
    module = sys.modules[f"{ours.__name__}.schema"]
    return not str(module.__file__).endswith(".py")
