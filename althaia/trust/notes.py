"""Adds a note (PEP 678) with the field that failed to an exception that leaves a dump or load.

Compiled code has no frames that would show a field, a value and an index. Notes change what an
exception contains, so that they are added only if the program switches them on.
"""

import sys
from typing import Any

from althaia import seam
from althaia.trust import seam_layers

BEGINNING = "althaia: while "
"""How each of these notes begins."""


asked = False
"""Whether the program has switched notes on or off itself, which overrides the environment."""


def switch(on: bool) -> None:
    """Switch notes on or off."""
    global asked
    asked = True
    seam_layers.take(_layer)
    if on:
        seam_layers.put(_layer)
    elif trail := sys.modules.get("althaia.engine.run"):
        trail.keep_trails(False)


def _layer(name: str, inner: seam_layers.Hook) -> seam_layers.Hook | None:
    if name in ("construct", "copied_fields"):
        return None
    # Not at module level: layers are called only if there is an engine.
    from althaia.engine.run import keep_trails, take_trail

    keep_trails(True)
    # ValidationError gets no note: its messages name the field.
    answer: tuple[type[Exception], ...] = ()
    doing = "dumping"
    if name not in ("dump", "dumps", "serialize"):
        doing, answer = "loading", (seam.defined["exceptions"]["ValidationError"],)

    def hook(schema: Any, *args: Any) -> Any:
        try:
            return inner(schema, *args)
        except Exception as error:
            path = take_trail(error, type(schema).__name__)
            if path and not isinstance(error, answer):
                # By the class: a user's may have another method of that name.
                BaseException.add_note(error, f"{BEGINNING}{doing} {path}")
            raise

    return hook
