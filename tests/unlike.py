"""Pairs of values that whatever compares results has to tell apart."""

from types import SimpleNamespace

import pytest

LOOP = []
LOOP.append(LOOP)
PAIRS = [
    (1, 1.0),
    (1, True),
    ("1", 1),
    (None, {}),
    ([1], (1,)),
    ([1, [2]], [1, 2]),
    ({"a": 1}, {"a": 1.0}),
    ({"a": "1"}, {"a": 1}),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
]
OBJECTS = [(SimpleNamespace(a=1), SimpleNamespace(a=2)), (LOOP, [[]])]


def unlike(*pairs):
    """Call a test with both values of each pair."""
    return pytest.mark.parametrize(("one", "other"), [*PAIRS, *pairs])
