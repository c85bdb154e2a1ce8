"""A wrong answer planted on purpose, and compare mode switched off behind each test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from althaia import seam
from althaia.trust import compare, seam_layers
from tests.conformance.harness import engine, plans_at_once

Plant = Callable[..., None]


@pytest.fixture(autouse=True)
def _at_once() -> Iterator[None]:
    """Every plan is built at first use."""
    if engine is None:
        yield
        return
    seam.load_engine()
    with plans_at_once():
        yield


@pytest.fixture(autouse=True)
def _off() -> Iterator[None]:
    yield
    compare.stop()


@pytest.fixture
def plant() -> Iterator[Plant]:
    """Let a function change what the plan of one of the seam's functions gives."""
    planted: list[seam_layers.Layer] = []

    def plant(name: str, wrong: Callable[[Any], Any]) -> None:
        def layer(each: str, inner: seam_layers.Hook) -> seam_layers.Hook | None:
            def answer(*args: Any) -> Any:
                given = inner(*args)
                return given if given is seam.DECLINED else wrong(given)

            return answer if each == name else None

        planted.append(layer)
        seam_layers.put(layer)

    yield plant
    for layer in planted:
        seam_layers.take(layer)
