"""Which field failed: a note on an exception that leaves a planned dump or load (PEP 678).

Compiled code has no frames that would show a field, a value and an index. Notes are part of what an
exception carries, so that nobody gets one who has not asked.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import TracebackType
from typing import Any, Final

from althaia import seam
from althaia.trust import hooks

HEIGHT: Final = 5

_DOING: Final = {
    "dump": "dumping",
    "dumps": "dumping",
    "dump_bytes": "dumping",
    "serialize": "dumping",
    "load": "loading",
    "loads": "loading",
    "deserialize": "loading",
}


_asked = False
"""Whether the program has said itself what it wants, which counts more than the environment."""


def switch_on_if_not_asked() -> None:
    """What ``ALTHAIA_NOTES`` asks for."""
    if not _asked:
        switch(True)


def switch(on: bool) -> None:
    """Add notes from now on, or add none any more."""
    global _asked
    _asked = True
    hooks.take(_layer)
    if on:
        hooks.put(_layer, HEIGHT)
    elif trail := sys.modules.get("althaia.engine.run.trail"):
        trail.keep(False)


def _layer(name: str, inner: hooks.Hook) -> hooks.Hook | None:
    doing = _DOING.get(name)
    if doing is None:
        return None
    # Here, and not above: layers are asked when there is an engine.
    from althaia.engine.run import trail

    trail.keep(True)
    # The answer to a bad input; it says itself which field is meant.
    answer: tuple[type[Exception], ...] = ()
    if doing == "loading":
        answer = (seam.defined["exceptions"]["ValidationError"],)

    def hook(schema: Any, *args: Any) -> Any:
        try:
            return inner(schema, *args)
        except Exception as error:
            path = trail.taken(error, type(schema).__name__)
            if not isinstance(error, answer):
                _note(error, f"althaia: while {doing} {path}" if path else "")
            raise

    return hook


def _note(error: Exception, note: str) -> None:
    """Say where an exception was, in a note and by a traceback without the engine's own frames."""
    add_note: Callable[[str], None] | None = getattr(error, "add_note", None)
    if note and add_note is not None:
        try:
            add_note(note)
        except Exception:  # A class of the user's own has another method of that name.
            return
    if error.__traceback__ is not None:
        error.__traceback__.tb_next = _without_engine(error.__traceback__.tb_next)


def _without_engine(traceback: TracebackType | None) -> TracebackType | None:
    """A traceback without the engine's frames, which show nothing but its own lines."""
    first: TracebackType | None = None
    last: TracebackType | None = None
    while traceback is not None:
        if not _is_engine(traceback):
            if last is None:
                first = traceback
            else:
                last.tb_next = traceback
            last = traceback
        traceback = traceback.tb_next
    if last is not None:
        last.tb_next = None
    return first


def _is_engine(traceback: TracebackType) -> bool:
    name = traceback.tb_frame.f_globals.get("__name__", "")
    return isinstance(name, str) and name.startswith(("althaia.engine.", "althaia.formats."))
