"""What upstream's functions do, by the digests of those that were reviewed.

The build and the shipped package both use this module, so it imports nothing of either.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass

GONE = "gone"
"""Used in place of the digest of a function that a release does not have."""

Reviews = dict[str, dict[str, str]]
"""By function and digest: the note of the person who reviewed the code."""


@dataclass(frozen=True)
class Table:
    """The contents of the semantic lock.

    :ivar version: the release for which the plans were written.
    :ivar functions: the digests of that release.
    :ivar equal: digests of other code that is equivalent in everything on which plans depend.
    :ivar variants: digests of code that behaves differently; the note begins with the name of the
        variant.
    """

    version: str
    functions: dict[str, str]
    equal: Reviews
    variants: Reviews

    @classmethod
    def parse(cls, text: str) -> Table:
        """Parse a table.

        :raises TypeError: an entry is missing
        :raises ValueError: the text is not valid TOML
        """
        return cls(**{"equal": {}, "variants": {}, **tomllib.loads(text)})

    def names(self) -> set[str]:
        """Return the names of all functions in the table."""
        return self.functions.keys() | self.equal.keys() | self.variants.keys()

    def meaning(self, name: str, digest: str) -> str | None:
        """Return ``""`` if the function behaves as the plans assume, the name of the variant if it
        behaves differently, None if it was not reviewed."""
        if digest == self.functions.get(name, GONE) or digest in self.equal.get(name, {}):
            return ""
        found = self.variants.get(name, {}).get(digest)
        return None if found is None else found.partition(":")[0]

    def meanings_of_all(self, present: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
        """Return the functions of a release that nobody has reviewed, and those that behave
        differently, with the name of the variant.

        :param present: the digests of its functions; others in the table are ``GONE``.
        """
        digests = dict.fromkeys(self.names(), GONE) | dict(present)
        found = {name: self.meaning(name, digest) for name, digest in digests.items()}
        unread = sorted(name for name, meaning in found.items() if meaning is None)
        return unread, {name: meaning for name, meaning in found.items() if meaning}
