"""Every benchmark case, by name; the rows of the speed tables are those with a goal."""

from __future__ import annotations

from benchmarks.cases import (
    bulk,
    children,
    errors,
    flat,
    foreign,
    kinds,
    orders,
    overridden,
    quotes,
    small,
    sources,
    text,
    validated,
    young,
)
from benchmarks.model import Case, by_name

FAMILIES = (
    quotes,
    children,
    flat,
    sources,
    orders,
    small,
    validated,
    errors,
    overridden,
    bulk,
    foreign,
    kinds,
    text,
    young,
)

CASES = by_name(case for family in FAMILIES for case in family.cases())


def rows() -> list[Case]:
    """The cases the speed tables have a row for, in the tables' order."""
    tables = ("dump", "load", "instance", "text")
    return sorted(
        (case for case in CASES.values() if case.goal is not None),
        key=lambda case: tables.index(case.goal.table) if case.goal else 0,
    )


def select(name: str) -> list[Case]:
    """The case called ``name``, or every case whose name contains it.

    Raises LookupError when there is none, naming the cases there are.
    """
    if name in CASES:
        return [CASES[name]]
    if found := [case for key, case in CASES.items() if name in key]:
        return found
    raise LookupError(f"no benchmark case is called {name!r}; there are: {', '.join(CASES)}")
