"""marshmallow, compiled, behind an import hook.

An application switches it on before anything imports marshmallow::

    import althaia

    althaia.patch()

    import marshmallow  # the compiled copy

An application calls :func:`patch`; a library never does: which marshmallow a process
runs is for the process to say.

This module is imported at interpreter start where ``ALTHAIA_PATCH`` is set, so it
imports next to nothing itself; each function loads what it needs when it is called.
"""

from __future__ import annotations

import sys
from os import environ

from althaia import seam

# Type checkers take this name for ``typing.TYPE_CHECKING``; importing typing would
# cost more than the rest of this module.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator
    from contextlib import AbstractContextManager
    from typing import Any, Literal, overload

    from marshmallow import EXCLUDE as EXCLUDE
    from marshmallow import INCLUDE as INCLUDE
    from marshmallow import RAISE as RAISE
    from marshmallow import Schema as Schema
    from marshmallow import SchemaOpts as SchemaOpts
    from marshmallow import ValidationError as ValidationError
    from marshmallow import fields as fields
    from marshmallow import missing as missing
    from marshmallow import post_dump as post_dump
    from marshmallow import post_load as post_load
    from marshmallow import pre_dump as pre_dump
    from marshmallow import pre_load as pre_load
    from marshmallow import validate as validate
    from marshmallow import validates as validates
    from marshmallow import validates_schema as validates_schema

    from althaia import bulk as bulk
    from althaia import json as json
    from althaia import msgpack as msgpack
    from althaia.engine.explain import Explanation
    from althaia.engine.strict import StrictError as StrictError
    from althaia.lines import LoadedLine
    from althaia.streams import StreamError as StreamError
    from althaia.switch.config import ConfigError as ConfigError
    from althaia.switch.installed import ReleaseError as ReleaseError
    from althaia.switch.redirect import LatePatchError as LatePatchError
    from althaia.switch.release import AlthaiaWarning as AlthaiaWarning
    from althaia.switch.status import Info
    from althaia.switch.status import NotCompiledError as NotCompiledError
    from althaia.trust.compare import Finding, Report
    from althaia.trust.profile import Profile

    __version__: str

__all__ = [
    "AlthaiaWarning",
    "ConfigError",
    "LatePatchError",
    "NotCompiledError",
    "ReleaseError",
    "StreamError",
    "StrictError",
    "__version__",
    "compare",
    "compare_report",
    "explain",
    "info",
    "is_patched",
    "loads_stream",
    "patch",
    "profile",
    "stats",
    "stream",
    "unpatch",
]

_LAZY = {
    "AlthaiaWarning": "althaia.switch.release",
    "ConfigError": "althaia.switch.config",
    "LatePatchError": "althaia.switch.redirect",
    "NotCompiledError": "althaia.switch.status",
    "ReleaseError": "althaia.switch.installed",
    "StreamError": "althaia.streams",
    "StrictError": "althaia.engine.strict",
}

_MODULES = ("bulk", "json", "msgpack")
"""Modules that are imported when somebody asks for them as an attribute."""

_UPSTREAMS = (
    "EXCLUDE",
    "INCLUDE",
    "RAISE",
    "Schema",
    "SchemaOpts",
    "ValidationError",
    "fields",
    "missing",
    "post_dump",
    "post_load",
    "pre_dump",
    "pre_load",
    "validate",
    "validates",
    "validates_schema",
)
"""What marshmallow itself exports; here it is the compiled copy's, redirected or not. Looked up
when somebody asks: importing althaia imports no marshmallow."""


def patch(
    *,
    force: bool = False,
    compiled: bool | None = None,
    notes: bool | None = None,
    gc: Literal["pause", "run"] | None = None,
) -> bool:
    """Make every later ``import marshmallow`` yield the installed release, with plans.

    The compiled copy is served where it is of the installed release; any other release is served
    from its own files.

    Cheap and idempotent, safe from several threads: marshmallow itself is imported only
    when somebody imports it.

    :param force: redirect even though the real marshmallow is already imported, or none is
        installed. Modules that hold references to the real one keep
        them, and two copies of the library live in the process until :func:`unpatch`.
    :param compiled: False: never the compiled copy, so that debuggers, profilers and coverage see
        ordinary functions. Not given: what ``ALTHAIA_COMPILED`` says, which is yes where it is not
        set. Without effect once marshmallow has been imported.
    :param notes: True: an exception that leaves a planned dump or load gets a note that names the
        field, as ``althaia: while dumping OrderSchema.lines[2].at``; False: none any more. Not
        given: what ``ALTHAIA_NOTES`` says, which is none where it is not set.
    :param gc: ``"pause"``: the garbage collector is off while a plan dumps a list or tuple of
        1,000 objects or more and runs no field or hook of yours. ``"run"``: never, which is what
        happens where neither this nor ``ALTHAIA_GC`` says otherwise.
    :returns: whether the redirect is in place: True, unless ``ALTHAIA_DISABLE`` is set.
    :raises LatePatchError: the real marshmallow is already imported; the message names the
        modules that hold references to it.
    :raises ReleaseError: no marshmallow is installed.
    :raises ConfigError: an ``ALTHAIA_…`` variable of the environment has a bad value.
    :raises ValueError: ``gc`` is something else.

    >>> import althaia
    >>> althaia.patch()
    True
    >>> import marshmallow
    """
    from althaia.switch import redirect

    done = redirect.patch(force=force, compiled=compiled, gc=gc, how="althaia.patch()")
    if notes is not None:
        from althaia.trust import notes as trust_notes

        trust_notes.switch(notes and done)
    return done


def unpatch() -> bool:
    """Take the redirect away: the next ``import marshmallow`` yields the real one.

    Module names, ``sys.modules`` and ``sys.meta_path`` are put back. Whoever imported the
    compiled copy before goes on using it.

    :returns: whether there was a redirect to take away.
    """
    from althaia.switch import redirect

    return redirect.unpatch()


def is_patched() -> bool:
    """Whether ``import marshmallow`` yields the compiled copy."""
    from althaia.switch import redirect

    return redirect.is_patched()


def info() -> Info:
    """What is installed here and how it is switched on.

    :returns: an object with ``as_text()`` and ``as_dict()``: versions, which modules are
        compiled or stale, whether and how marshmallow is redirected, where the real one is.

    >>> import althaia
    >>> althaia.info().as_dict()["patched"]
    False
    """
    from althaia.switch import status

    return status.info()


def explain(schema: Any) -> Explanation:
    """How a schema is dumped and loaded: each field, its path, and the reason for it.

    :param schema: a schema class of the compiled marshmallow (an instance is made of it,
        without arguments) or an instance.
    :returns: an object with ``summary()``, ``as_text()`` and ``as_dict()``.
    :raises TypeError: ``schema`` is neither.

    >>> print(althaia.explain(UserSchema).as_text())
    """
    from althaia.engine.explain import explain

    return explain(schema)


def stats(
    *, reset: bool = False, timed: bool | None = None
) -> dict[str, dict[str, dict[str, Any]]]:
    """What the plans did since the process began, or since the last reset, by schema class.

    :param reset: let the next answer count from here.
    :param timed: True: measure how long each call takes from now on, about 50 ns a call; False: no
        more. The answers then have ``seconds``, which ``reset`` does not set back.
    :returns: by the qualified name of the class, for ``"dump"`` and ``"load"``: ``calls``
        answered by a plan, how many of them went ``straight`` to or from text, and the
        ``objects`` they were given; ``nested`` calls, which the plan of a schema around it made;
        ``unplanned`` calls, and ``why`` the last plan leaves everything to marshmallow's own code
        ("" where it does not); plans ``built``, ``declined`` and ``invalidated``. Empty where no
        plans run.

    >>> althaia.stats()["app.schemas.User"]["dump"]["calls"]
    12
    """
    # After an attempt that failed it cannot be imported once more.
    engine = None if seam.failure else _engine()
    counted: dict[str, dict[str, dict[str, Any]]] = engine.stats(reset) if engine else {}
    if timed is not None or "althaia.trust.profile" in sys.modules:
        from althaia.trust import profile as trust_profile

        if timed is not None:
            trust_profile.time_calls(timed)
        for (name, direction), seconds in trust_profile.seconds_by_class().items():
            counted.get(name, {}).get(direction, {})["seconds"] = seconds
    return counted


def profile() -> AbstractContextManager[Profile]:
    """Measure where the time of dumps and loads goes, by schema class, field and user's code.

    Answers and exceptions stay the same. Calls become about a tenth slower meanwhile.

    :returns: a context manager that gives an object with ``lines``, ``fields``, ``as_text()``,
        ``as_dict()`` and ``as_html()``, filled when the ``with`` block ends.

    >>> with althaia.profile() as p:
    ...     OrderSchema(many=True).dump(orders)
    >>> print(p.as_text())
    """
    from althaia.trust.profile import profile

    return profile()


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
    from althaia.trust.compare import compare

    compare(rate, on_difference, schemas)


def compare_report() -> Report:
    """What has been compared since :func:`compare` was called last.

    :returns: an object with ``compared``, ``different``, ``not_deterministic``, ``skipped`` (by
        reason) and ``findings``, ``as_text()`` and ``as_dict()``.

    >>> althaia.compare_report().as_dict()["different"]
    0
    """
    from althaia.trust.compare import report

    return report()


if TYPE_CHECKING:

    @overload
    def stream(
        schema: Any,
        iterable: Iterable[Any],
        *,
        chunk_bytes: int = 65536,
        lines: bool = False,
        **options: Any,
    ) -> Iterator[bytes]: ...
    @overload
    def stream(
        schema: Any,
        iterable: AsyncIterable[Any],
        *,
        chunk_bytes: int = 65536,
        lines: bool = False,
        **options: Any,
    ) -> AsyncIterator[bytes]: ...


def stream(
    schema: Any,
    iterable: Any,
    *,
    chunk_bytes: int = 65536,
    lines: bool = False,
    **options: Any,
) -> Any:
    """A collection as a stream of JSON in UTF-8, in memory that does not grow with its length.

    :param schema: a schema instance; ``Meta.render_module`` is ``json`` or ``althaia.json``.
    :param iterable: the objects, taken one after the other as they are needed; asynchronous or not.
    :param chunk_bytes: how many bytes a chunk has, roughly. The first ones are smaller.
    :param lines: one object a line (NDJSON) instead of an array.
    :param options: as for ``schema.dumps``.
    :returns: an iterator of bytes, asynchronous if ``iterable`` is. Joined, they are
        ``schema.dumps(list(iterable), many=True, **options)``, encoded; with ``lines``,
        ``schema.dumps(each)`` and a newline for each object.
    :raises StreamError: the whole collection would be needed; at once, before the first object is
        taken. The message says why and what to do.
    :raises Exception: what dumping or encoding an object raises; it ends the stream.

    >>> for chunk in althaia.stream(RowSchema(), rows):
    ...     file.write(chunk)
    """
    from althaia.streams import stream

    return stream(schema, iterable, chunk_bytes=chunk_bytes, lines=lines, **options)


if TYPE_CHECKING:

    @overload
    def loads_stream(
        schema: Any,
        source: AsyncIterable[bytes],
        *,
        partial: Any = None,
        unknown: Any = None,
        max_line_bytes: int | None = None,
        **options: Any,
    ) -> AsyncIterator[LoadedLine]: ...
    @overload
    def loads_stream(
        schema: Any,
        source: Any,
        *,
        partial: Any = None,
        unknown: Any = None,
        max_line_bytes: int | None = None,
        **options: Any,
    ) -> Iterator[LoadedLine]: ...


def loads_stream(
    schema: Any,
    source: Any,
    *,
    partial: Any = None,
    unknown: Any = None,
    max_line_bytes: int | None = None,
    **options: Any,
) -> Any:
    """Load NDJSON, one object a line, in memory that does not grow with the number of lines.

    A bad line does not end the stream: it is yielded with its error.

    :param schema: a schema instance; each line is loaded by ``schema.loads(line, many=False)``.
    :param source: a file opened for bytes, or any iterable of bytes, cut anywhere, in UTF-8;
        asynchronous or not.
    :param partial: as for ``schema.loads``, as is ``unknown``; ``options`` are the render
        module's.
    :param max_line_bytes: a longer line is an error and is not kept; None: any length is read.
    :returns: an iterator of :class:`LoadedLine`, asynchronous if ``source`` is: ``number`` from 1,
        ``value``, ``error``. Blank lines are left out. The error is a ``ValidationError``, what
        ``json`` raises for text that it does not read, or a ``LineTooLongError``.
    :raises StreamError: ``schema`` is no instance of a marshmallow schema; at once.
    :raises Exception: what user code raises besides ``ValidationError``; it ends the stream.

    >>> for line in althaia.loads_stream(RowSchema(), open("rows.ndjson", "rb")):
    ...     print(line.number, line.error or line.value)
    """
    from althaia.lines import loads_stream

    return loads_stream(
        schema,
        source,
        partial=partial,
        unknown=unknown,
        max_line_bytes=max_line_bytes,
        **options,
    )


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("althaia")
    if name in _LAZY:
        from importlib import import_module

        return getattr(import_module(_LAZY[name]), name)
    if name in _MODULES:
        from importlib import import_module

        return import_module(f"{__name__}.{name}")
    if name in _UPSTREAMS:
        from althaia import marshmallow

        return getattr(marshmallow, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES, *_UPSTREAMS})


def _engine() -> Any:
    """The engine; None in a pure build, which has none."""
    try:
        import althaia.engine.door as engine
    except ModuleNotFoundError as error:
        if error.name != "althaia.engine.door":
            raise
        return None
    return engine


def _connect_engine() -> None:
    from althaia.switch.config import settings

    engine = _engine() if settings().plans else None
    if engine is None:
        seam.without_engine()
        if settings().strict:
            _say_not_strict()
        if settings().plans:
            from althaia import collection

            if collection.is_known():
                seam.collection = collection.dump
        return
    try:
        engine.connect()
    except (AttributeError, KeyError, TypeError) as error:
        _not_connected(error)
    else:
        _watch()


def _say_not_strict() -> None:
    """``ALTHAIA_STRICT`` is set where no plan is ever made, and so none is ever refused."""
    from althaia.switch.config import settings
    from althaia.switch.release import AlthaiaWarning

    why = "this is a pure build" if settings().plans else "ALTHAIA_PLANS=0 is set"
    seam.warn(f"ALTHAIA_STRICT finds nothing: {why}, so that no plans run", AlthaiaWarning, 5)


def _not_connected(error: Exception) -> None:
    """The engine does not know what is served.

    A release that the program has installed runs on its own code then.

    :raises EngineError: it is the compiled copy, or ``ALTHAIA_STRICT`` is set
    """
    from althaia.switch import installed, release

    what = f"{type(error).__name__}: {error}"
    if seam.release is None:
        raise seam.EngineError(
            f"althaia's plans do not fit the marshmallow that it was built from "
            f"({installed.served()}): {what}. Set ALTHAIA_PLANS=0 to run without plans, or build "
            "from the release that vendor/marshmallow/lock.toml names"
        ) from error
    served = release.serve()
    served.lose(f"the plans do not fit it ({what}), so its own code runs")
    served.say()
    seam.without_engine(served.lost[-1])


def _watch() -> None:
    """Let what was asked to watch the calls stand in the seam, now that there are plans."""
    from althaia.switch.config import settings

    share, notes = settings().compare, settings().notes
    if not share and not notes and "althaia.trust.seam_layers" not in sys.modules:
        return
    from althaia.trust import seam_layers

    seam_layers.connected()
    if notes:
        from althaia.trust import notes as trust_notes

        trust_notes.switch_on_if_not_asked()
    if share:
        from althaia.trust.compare import compare_if_off

        compare_if_off(share)


class _Door:
    """Finds ``althaia.marshmallow``: the compiled copy or the installed release, redirected or
    not."""

    finds_althaia = True

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> Any:
        if not name.startswith("althaia.marshmallow"):
            return None
        from althaia.switch import redirect

        return redirect.own_spec(name, path)


if not any(getattr(each, "finds_althaia", False) for each in sys.meta_path):
    sys.meta_path.insert(0, _Door())

seam.connect(_connect_engine)

if environ.get("ALTHAIA_PATCH"):
    from althaia.switch.startup import warn_if_not_asked as _warn_if_not_asked

    _warn_if_not_asked()

if environ.get("ALTHAIA_REQUIRE_COMPILED"):
    from althaia.switch import status as _status

    _status.check_compiled()
