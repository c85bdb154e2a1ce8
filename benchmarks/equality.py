"""Are two outputs the same? Values, types and the order of keys, as users would see them."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from benchmarks.cases.calls import Invalid, Rejected, Written, paths_of


def difference(
    expected: Any, actual: Any, where: str = "output", *, ordered: bool = True
) -> str | None:
    """The first difference between two outputs as a sentence, or None.

    ``ordered`` says whether the order of a mapping's keys counts.

    >>> difference([1, {"a": 2}], [1, {"a": 2.0}])
    "output[1]['a']: 2 (int) became 2.0 (float)"
    """
    if isinstance(expected, Invalid) and isinstance(actual, Rejected):
        return difference(paths_of(expected.messages), actual.paths, "places of errors")
    if isinstance(actual, Written):
        return difference(json.loads(expected), actual.value, "text", ordered=ordered)
    if type(expected) is not type(actual):
        return f"{where}: {_show(expected)} became {_show(actual)}"
    if isinstance(expected, Invalid):
        return difference(
            expected.messages, actual.messages, "messages", ordered=ordered
        ) or difference(expected.valid, actual.valid, "valid data", ordered=ordered)
    if isinstance(expected, Mapping):
        if list(expected) != list(actual) and (ordered or expected.keys() != actual.keys()):
            return f"{where}: keys {list(expected)} became {list(actual)}"
        pairs = ((expected[key], actual[key], f"{where}[{key!r}]") for key in expected)
    elif isinstance(expected, (list, tuple)):
        if len(expected) != len(actual):
            return f"{where}: {len(expected)} items became {len(actual)}"
        pairs = (
            (one, other, f"{where}[{i}]")
            for i, (one, other) in enumerate(zip(expected, actual, strict=True))
        )
    elif dataclasses.is_dataclass(expected) and not isinstance(expected, type):
        pairs = (
            (getattr(expected, f.name), getattr(actual, f.name), f"{where}.{f.name}")
            for f in dataclasses.fields(expected)
        )
    else:
        # Both sides of NaN are unequal to themselves, hence the texts.
        same = expected == actual or repr(expected) == repr(actual)
        return None if same else f"{where}: {_show(expected)} became {_show(actual)}"
    return next((found for pair in pairs if (found := difference(*pair, ordered=ordered))), None)


def _show(value: object) -> str:
    text = repr(value)
    return f"{text if len(text) < 60 else text[:57] + '...'} ({type(value).__name__})"
