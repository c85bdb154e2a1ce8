"""The kinds of field that plans support, one module for each family.

A module contains everything about its kinds: the steps that dump and load them, and the functions
that determine from a field whether a step may replace its own method. To add a kind, add an entry
to ``KINDS`` of one of them.
"""

from __future__ import annotations

from althaia.engine.kinds import (
    booleans,
    calls,
    containers,
    enums,
    flask_marshmallow,
    identifiers,
    inferred,
    marshmallow_sqlalchemy,
    moments,
    nested,
    numbers,
    periods,
    raw,
    text,
    webargs,
)

KINDS = (
    *raw.KINDS,
    *inferred.KINDS,
    *text.KINDS,
    *numbers.KINDS,
    *booleans.KINDS,
    *moments.KINDS,
    *periods.KINDS,
    *identifiers.KINDS,
    *enums.KINDS,
    *containers.KINDS,
    *nested.KINDS,
    *calls.KINDS,
    *webargs.KINDS,
    *marshmallow_sqlalchemy.KINDS,
    *flask_marshmallow.KINDS,
)
