"""What upstream's functions mean, by the digests of those that somebody has read.

The build and the shipped package both use this module, so it imports nothing of either.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

GONE: Final = "gone"
"""Stands for the digest of a function that a release does not have."""

Readings = dict[str, dict[str, str]]
"""By function and digest, what somebody noted who has read it."""


@dataclass(frozen=True)
class Table:
    """All that is recorded.

    :ivar version: the release that the plans were written against.
    :ivar functions: the digests of that release.
    :ivar equal: digests of other code that means the same in all that plans rest on.
    :ivar variants: digests of code that means something else; the name of that comes first.
    """

    version: str
    functions: dict[str, str]
    equal: Readings
    variants: Readings

    @classmethod
    def parse(cls, text: str) -> Table:
        """The table of a text.

        :raises KeyError: something is missing
        :raises ValueError: it is no TOML
        """
        found = tomllib.loads(text)
        return cls(
            found["version"], found["functions"], found.get("equal", {}), found.get("variants", {})
        )

    def names(self) -> set[str]:
        """All functions of which anything is known."""
        return self.functions.keys() | self.equal.keys() | self.variants.keys()

    def meaning(self, name: str, digest: str) -> str | None:
        """``""`` where the function means what the plans take it to mean, the name of the variant
        where it means something else, None where nobody has read it."""
        if digest == self.functions.get(name, GONE) or digest in self.equal.get(name, {}):
            return ""
        found = self.variants.get(name, {}).get(digest)
        return None if found is None else found.partition(":")[0]

    def meanings(self, present: Mapping[str, str]) -> Meanings:
        """What a release, or one module of it, means.

        :param present: the digests of its functions, ``GONE`` of those that it does not have.
        """
        found = {name: self.meaning(name, digest) for name, digest in present.items()}
        return Meanings(
            sorted(name for name, meaning in found.items() if meaning is None),
            {name: meaning for name, meaning in found.items() if meaning},
        )

    def meanings_of_all(self, present: Mapping[str, str]) -> Meanings:
        """The same for a whole release: what is not there is gone."""
        return self.meanings(dict.fromkeys(self.names(), GONE) | dict(present))


@dataclass(frozen=True)
class Meanings:
    """How a release differs from the one that the plans were written against.

    :ivar unread: functions that nobody has read as they are there.
    :ivar variants: functions that mean something else, with the name of what they mean.
    """

    unread: list[str]
    variants: dict[str, str]
