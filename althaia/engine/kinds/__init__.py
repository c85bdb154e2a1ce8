"""The kinds of field that plans support, one module for each family.

A module contains everything about its kinds: the steps that dump and load them, and the functions
that determine from a field whether a step may replace its own method. To add a kind, add an entry
to ``KINDS`` of one of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from althaia.engine.steps import Kind, PackageKind

FAMILIES = (
    "raw",
    "inferred",
    "text",
    "numbers",
    "booleans",
    "moments",
    "periods",
    "identifiers",
    "enums",
    "containers",
    "nested",
    "calls",
    "webargs",
    "marshmallow_sqlalchemy",
    "flask_marshmallow",
)
"""The modules. Imported by name: they are extension modules, which have no types."""

KINDS: tuple[Kind | PackageKind, ...] = tuple(
    kind for name in FAMILIES for kind in import_module(f"{__name__}.{name}").KINDS
)
