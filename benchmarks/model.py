"""What a benchmark case is: one piece of work, described once for every marshmallow."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

Work = Callable[[], object]
"""One call of what is measured. Returns its output, so that outputs can be compared."""

Marshmallow = Any
"""A marshmallow module: upstream's, ours, or another drop-in's."""


@dataclass(frozen=True, slots=True)
class Goal:
    """A row of the project's speed tables: the ratio to upstream to reach and to aim for.

    >>> Goal("dump", 10, 14).verdict(12.0)
    'reached'
    """

    table: str
    reach: float
    aim: float | None = None

    def verdict(self, ratio: float) -> str:
        """Say where ``ratio`` stands: ``below``, ``reached`` or ``aim``."""
        if ratio < self.reach:
            return "below"
        return "aim" if self.aim is not None and ratio >= self.aim else "reached"


@dataclass(frozen=True, slots=True)
class Case:
    """One piece of work.

    ``build`` takes a marshmallow module and a number of objects and returns the work, ready
    to be called any number of times; what it does before returning is never timed.
    ``objects`` is the number of objects one call handles where nothing else is said.
    ``collector`` leaves the cyclic garbage collector on while the clock runs; ``like`` names
    the case whose work this is, where only the circumstances differ.
    """

    name: str
    title: str
    family: str
    objects: int
    build: Callable[[Marshmallow, int], Work]
    goal: Goal | None = None
    collector: bool = False
    like: str | None = None

    def work(self, ma: Marshmallow, objects: int | None = None) -> Work:
        """The work on ``ma``, for as many ``objects`` as the case says or as told."""
        return self.build(ma, objects or self.objects)


def by_name(cases: Iterable[Case]) -> dict[str, Case]:
    """Index ``cases`` by name; two of one name are a mistake and raise ValueError."""
    index: dict[str, Case] = {}
    for case in cases:
        if case.name in index:
            raise ValueError(f"two benchmark cases are named {case.name!r}: rename one of them")
        index[case.name] = case
    return index
