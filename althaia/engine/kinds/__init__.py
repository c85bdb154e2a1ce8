"""The kinds of field that plans know, one module a family.

A module holds all that there is to know about its kinds: the steps that dump and load them, and
the makers that read from a field whether, and how, a step may stand for its own method. A new
kind is a new entry in one of them.
"""

from __future__ import annotations

from althaia.engine.kinds import (
    booleans,
    calls,
    containers,
    enums,
    identifiers,
    moments,
    nested,
    numbers,
    raw,
    text,
    webargs,
)

KINDS = (
    *raw.KINDS,
    *text.KINDS,
    *numbers.KINDS,
    *booleans.KINDS,
    *moments.KINDS,
    *identifiers.KINDS,
    *enums.KINDS,
    *containers.KINDS,
    *nested.KINDS,
    *calls.KINDS,
    *webargs.KINDS,
)
