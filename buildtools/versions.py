"""Compare release numbers, enough for the ``Applies-To`` field of a patch."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable

_COMPARE: dict[str, Callable[[tuple[int, ...], tuple[int, ...]], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "<": operator.lt,
    ">": operator.gt,
}


def applies(specifiers: str, version: str) -> bool:
    """Whether ``version`` satisfies a comma-separated list such as ``>=3.20, <5``.

    A version that is no number (a development tree) satisfies every list.

    >>> applies(">=4, <5", "4.4.0"), applies(">=4, <5", "3.26.2")
    (True, False)
    """
    if not version[:1].isdigit():
        return True
    number = _number(version)
    for specifier in specifiers.split(","):
        found = re.fullmatch(r"\s*(>=|<=|==|<|>)\s*([\d.]+)\s*", specifier)
        if found is None:
            raise ValueError(f"not a version specifier: {specifier.strip()!r}")
        if not _COMPARE[found[1]](number, _number(found[2])):
            return False
    return True


def _number(version: str) -> tuple[int, ...]:
    digits = re.match(r"\d+(?:\.\d+)*", version)
    parts = [int(part) for part in digits[0].split(".")] if digits else []
    return tuple([*parts, 0, 0, 0, 0][:4])
