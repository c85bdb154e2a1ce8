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
    from typing import Any

    # Type checkers export what it exports.
    from marshmallow import *  # noqa: F403

    from althaia import bulk as bulk, json as json, msgpack as msgpack
    from althaia.bulk.lines import loads_stream as loads_stream
    from althaia.engine.explain import explain as explain
    from althaia.streams import StreamError as StreamError, stream as stream
    from althaia.switch.config import ConfigError as ConfigError
    from althaia.switch.installed import ReleaseError as ReleaseError
    from althaia.switch.redirect import (
        LatePatchError as LatePatchError,
        is_patched as is_patched,
        unpatch as unpatch,
    )
    from althaia.switch.release import AlthaiaWarning as AlthaiaWarning
    from althaia.switch.status import NotCompiledError as NotCompiledError, info as info
    from althaia.trust.compare import compare as compare, compare_report as compare_report
    from althaia.trust.profile import profile as profile

    __version__: str

_LAZY = {
    "AlthaiaWarning": "switch.release",
    "ConfigError": "switch.config",
    "LatePatchError": "switch.redirect",
    "NotCompiledError": "switch.status",
    "ReleaseError": "switch.installed",
    "StreamError": "streams",
    "compare": "trust.compare",
    "compare_report": "trust.compare",
    "explain": "engine.explain",
    "info": "switch.status",
    "is_patched": "switch.redirect",
    "loads_stream": "bulk.lines",
    "profile": "trust.profile",
    "stream": "streams",
    "unpatch": "switch.redirect",
}
"""The modules that define the public names, imported when somebody asks for one."""

__all__ = sorted(["__version__", "patch", "stats", *_LAZY])

_MODULES = ("bulk", "json", "msgpack")
"""Modules that are imported when somebody asks for them as an attribute."""

_UPSTREAMS = (
    "EXCLUDE", "INCLUDE", "RAISE", "Schema", "SchemaOpts", "ValidationError", "fields", "missing",
    "post_dump", "post_load", "pre_dump", "pre_load", "validate", "validates", "validates_schema",
)  # fmt: skip
"""What marshmallow itself exports; here it is the compiled copy's, redirected or not. Looked up
when somebody asks: importing althaia imports no marshmallow."""


def patch(
    *,
    force: bool = False,
    compiled: bool | None = None,
    notes: bool | None = None,
) -> bool:
    """Make every later ``import marshmallow`` yield the installed release, with plans.

    Cheap, idempotent, safe from several threads: marshmallow is imported when somebody imports it.

    :param force: redirect even though the real marshmallow is already imported, or none is
        installed. Modules that hold references to the real one keep them.
    :param compiled: False: never the compiled copy, so that debuggers, profilers and coverage see
        ordinary functions. Not given: what ``ALTHAIA_COMPILED`` says, else yes. Without effect
        once marshmallow has been imported.
    :param notes: True: an exception that leaves a planned dump or load gets a note that names the
        field, as ``althaia: while dumping OrderSchema.lines[2].at``; False: none any more. Not
        given: what ``ALTHAIA_NOTES`` says, else none.
    :returns: whether the redirect is in place: True, unless ``ALTHAIA_DISABLE`` is set.
    :raises LatePatchError: the real marshmallow is already imported; the message says by whom.
    :raises ReleaseError: no marshmallow is installed, or one older than 3.13.
    :raises ConfigError: an ``ALTHAIA_…`` variable of the environment has a bad value.

    >>> import althaia
    >>> althaia.patch()
    True
    >>> import marshmallow
    """
    from althaia.switch import redirect

    done = redirect.switch_on("althaia.patch()", force=force, compiled=compiled)
    if notes is not None:
        from althaia.trust import notes as trust_notes

        trust_notes.switch(notes and done)
    return done


def stats(
    *, reset: bool = False, timed: bool | None = None
) -> dict[str, dict[str, dict[str, Any]]]:
    """What the plans did since the process began, or since the last reset, by schema class.

    :param reset: let the next answer count from here.
    :param timed: True: measure how long each call takes from now on; False: no more. The answers
        then have ``seconds``, which ``reset`` does not set back.
    :returns: by the qualified name of the class, for ``"dump"`` and ``"load"``: ``calls``
        answered by a plan, how many of them went ``straight`` to or from text, and the
        ``objects`` they were given; ``nested`` calls, which the plan of a schema around it made;
        ``unplanned`` calls, and ``why`` the last plan leaves everything to marshmallow's own code
        ("" where it does not); plans ``built``, ``declined`` and ``invalidated``. Classes that are
        gone are added up as ``(classes that are gone)``. Empty where no plans run.

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


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name == "__path__":
        # It is read before a module below this one is imported, which may be althaia.marshmallow.
        globals()[name] = _PATH
        _put_door()
        return _PATH
    if name == "__version__":
        # Not by its metadata: a tree in which it was built needs not be installed.
        return import_module(f"{__name__}.switch.installed").build_info().get("version", "unknown")
    if name in _LAZY:
        return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name in _UPSTREAMS:
        return getattr(import_module(f"{__name__}.marshmallow"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES, *_UPSTREAMS})


def _engine() -> Any:
    """The engine; None in a pure build, which has none."""
    from althaia.switch.release import has_engine

    if not has_engine():
        return None
    import althaia.engine.door as engine

    return engine


def _connect_engine() -> None:
    from althaia.switch.config import settings

    asked = settings()
    engine = _engine() if asked.plans else None
    if engine is None:
        seam.without_engine()
        return
    engine.connect()
    _watch(asked.compare, asked.notes)


def _watch(share: float, notes: bool) -> None:
    """Let what was asked to watch the calls stand in the seam, now that there are plans."""
    if not share and not notes and "althaia.trust.seam_layers" not in sys.modules:
        return
    from althaia.trust import seam_layers

    seam_layers.connected()
    if notes:
        from althaia.trust import notes as trust_notes

        if not trust_notes.asked:
            trust_notes.switch(True)
    if share:
        from althaia.trust import compare as trust_compare

        if not trust_compare.compare_report().rate:
            trust_compare.compare(share)


class _Door:
    """Finds ``althaia.marshmallow``: the compiled copy or the installed release, redirected or
    not. The redirect's own finder, which stands in front of it, finds it too."""

    finds_althaia = True

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> Any:
        if (
            name == "marshmallow"
            and environ.get("ALTHAIA_PATCH")
            and "althaia.switch.startup" not in sys.modules
        ):
            from althaia.switch import startup

            startup.warn_if_not_patched()
        if not name.startswith("althaia.marshmallow"):
            return None
        from althaia.switch import redirect

        return redirect.own_spec(name, path)


def _put_door() -> None:
    if not any(getattr(each, "finds_althaia", False) for each in sys.meta_path):
        sys.meta_path.insert(0, _Door())


seam.connect(_connect_engine)

if environ.get("ALTHAIA_PATCH"):
    _put_door()  # It warns if the start-up file has not run.

if environ.get("ALTHAIA_REQUIRE_COMPILED"):
    _put_door()  # What is checked is what the installed release decides.
    from althaia.switch import status as _status

    _status.check_compiled()

# Whoever only imports althaia has no finder more: __getattr__ puts it in place.
_PATH = globals().pop("__path__")
