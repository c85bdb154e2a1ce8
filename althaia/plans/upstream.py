"""Upstream's classes and functions as they were defined, and what users made of them.

Whether a method is upstream's is decided by identity with what the class was defined
with, never by name: :data:`althaia.seam.pristine` is taken while marshmallow is imported,
before user code can replace anything.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from althaia import seam


class Absent:
    """What a look-up answers where there is nothing."""

    def __repr__(self) -> str:
        return "<absent>"


ABSENT: Final = Absent()


def static(cls: type, name: str) -> Any:
    """The attribute as the class's bases define it, descriptors unbound, or ``ABSENT``.

    >>> static(bool, "real") is int.__dict__["real"]
    True
    """
    for base in cls.__mro__:
        namespace = base.__dict__
        if name in namespace:
            return namespace[name]
    return ABSENT


def definers(cls: type, name: str) -> list[type]:
    """The classes of the MRO that define the attribute, nearest first."""
    return [base for base in cls.__mro__ if name in base.__dict__]


class Upstream:
    """One loaded copy of marshmallow.

    :param unknown: qualified names (``fields.Integer._serialize``) of functions whose
        meaning differs from the release that the plans were written against.
    """

    def __init__(self, unknown: frozenset[str] = frozenset()) -> None:
        self.schema = seam.modules["schema"]
        self.fields = seam.modules["fields"]
        self.utils = seam.modules["utils"]
        self.validate = seam.modules["validate"]
        self.error_store = seam.modules["error_store"]
        self.unknown = unknown
        self.missing = self.schema["missing"]
        self.Schema: type = self.schema["Schema"]
        self.Field: type = self.fields["Field"]
        self.dump_kinds: dict[int, tuple[str, Any]] = {}
        self.load_kinds: dict[int, tuple[str, Any]] = {}

    def raw(self, cls: type, name: str) -> Any:
        """The attribute that upstream defined on this very class; KeyError where none."""
        return seam.pristine[cls][name]

    def defines(self, cls: type, name: str, owner: type) -> bool:
        """Whether instances of ``cls`` get the method that upstream defined on ``owner``."""
        return static(cls, name) is seam.pristine[owner][name]

    def is_known(self, *names: str) -> bool:
        """Whether the named functions mean what they meant when the plans were written."""
        return self.unknown.isdisjoint(names)

    def owner(self, cls: type, name: str) -> str:
        """Where a class gets an attribute from, for people: ``app.schemas.Slug``."""
        for base in cls.__mro__:
            if name in base.__dict__:
                return f"{base.__module__}.{base.__qualname__}"
        return "nowhere"

    def is_own_kind(self, cls: type) -> bool:
        """Whether the class is one of upstream's, not a user's subclass."""
        return cls in seam.pristine


def load() -> Upstream:
    """The loaded copy of marshmallow.

    :raises KeyError: marshmallow's modules have not been imported through the seam.
    """
    return Upstream(_unknown_functions())


def _unknown_functions() -> frozenset[str]:
    path = Path(__file__).parent.parent / "_build_info.json"
    try:
        info = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return frozenset()
    return frozenset(info["semantics"]["differing"])
