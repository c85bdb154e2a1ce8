"""What all drop-in marshmallows have in common: they run the cases' own schemas."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from functools import partial
from importlib.metadata import PackageNotFoundError, version

from benchmarks.cases import CASES
from benchmarks.model import Marshmallow, Work

Builds = Mapping[str, Callable[[int], Work]]


def builds_on(ma: Marshmallow) -> Builds:
    """Every case, on the marshmallow module ``ma``."""
    return {name: partial(case.build, ma) for name, case in CASES.items()}


def plain(output: object) -> object:
    """A drop-in's output is compared as it is."""
    return output


def versions_of(*distributions: str) -> dict[str, str]:
    """The versions of what is installed of ``distributions``, and of Python."""
    found = {"Python": platform.python_version()}
    for name in distributions:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
