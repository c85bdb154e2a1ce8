from __future__ import annotations

import pytest

from buildtools.shipped import patching


@pytest.mark.parametrize(
    ("specifiers", "version", "answer"),
    [
        (">=3.20.1, <5", "4.4.0", True),
        (">=3.20.1, <5", "3.20.0", False),
        (">=3.20.1, <5", "3.9.1", False),
        (">=3.20.1, <5", "5.0", False),
        (">=4", "4", True),
        (">=99", "unknown", True),
    ],
)
def test_applies(specifiers: str, version: str, answer: bool) -> None:
    assert patching.applies(specifiers, version) is answer
