"""The kinds of field that plans support, one module for each family.

A module contains everything about its kinds: the steps that dump and load them, and the functions
that determine from a field whether a step may replace its own method. To add a kind, add an entry
to ``KINDS`` of one of them, under the class that defines the method: ``Number`` has the entry for
``Integer``. The name of a new module goes into ``FAMILIES``. The modules for field classes of other
packages have the packages' names; they are loaded for the first field of such a class.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from althaia.engine.steps import Kind

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
)
"""The modules. Imported by name: they are extension modules, which have no types."""

KINDS: tuple[Kind, ...] = tuple(
    kind for name in FAMILIES for kind in import_module(f"{__name__}.{name}").KINDS
)

PACKAGES: dict[str, str] = {
    name: f"{__name__}.{name}"
    for name in ("webargs", "marshmallow_sqlalchemy", "flask_marshmallow")
}
"""The module for the field classes of a package, by the package's name."""
