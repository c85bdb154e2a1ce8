"""Counters per schema class: what the plans did, for ``althaia.stats()``."""

from __future__ import annotations

from weakref import WeakKeyDictionary


class Statistics:
    """What happened to the schemas of one class since the program began.

    ``calls`` were answered by a plan; ``built``, ``declined`` and ``invalidated`` count
    plans.
    """

    __slots__ = ("__weakref__", "built", "calls", "declined", "invalidated")

    def __init__(self) -> None:
        self.calls = 0
        self.built = 0
        self.declined = 0
        self.invalidated = 0

    def as_dict(self) -> dict[str, int]:
        """The counters by name."""
        return {
            name: getattr(self, name) for name in ("calls", "built", "declined", "invalidated")
        }


_by_class: WeakKeyDictionary[type, Statistics] = WeakKeyDictionary()


def statistics_of(schema_class: type) -> Statistics:
    """The counters of a schema class, made where there are none yet."""
    found = _by_class.get(schema_class)
    if found is None:
        found = _by_class.setdefault(schema_class, Statistics())
    return found


def by_class() -> dict[str, dict[str, int]]:
    """All counters by the qualified name of the schema class."""
    return {
        f"{cls.__module__}.{cls.__qualname__}": counters.as_dict()
        for cls, counters in list(_by_class.items())
    }
