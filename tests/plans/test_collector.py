"""``patch(gc="pause")``: the collector is off while a large list is dumped, and only then."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import pytest

from althaia import marshmallow as ma
from althaia import seam
from tests.interpreters import FREE_THREADED

pytestmark = pytest.mark.skipif(FREE_THREADED, reason="not paused without the GIL")

fields = ma.fields
LARGE = 1000


@pytest.fixture(autouse=True)
def pausing(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(seam, "pause_collector", True)
    assert gc.isenabled()
    yield
    gc.enable()


class Seen:
    """An object that notes whether the collector is on when it is read."""

    def __init__(self, then: Any = None) -> None:
        self.then = then

    @property
    def a(self) -> Any:
        found = gc.isenabled()
        if self.then is not None:
            self.then()
        return found


class Inner(ma.Schema):
    a = fields.Raw()


class Flat(ma.Schema):
    a = fields.Raw()


class Nesting(ma.Schema):
    inner = fields.List(fields.Nested(Inner))


def collects(schema: Any, rows: Any) -> set[bool]:
    """Whether the collector was on while the rows were dumped."""
    found = {row["a"] for row in schema.dump(rows, many=True)}
    assert gc.isenabled()
    return found


@pytest.mark.parametrize("kind", [list, tuple])
def test_a_large_collection_pauses(kind: Any) -> None:
    assert collects(Flat(), kind([Seen()] * LARGE)) == {False}


@pytest.mark.parametrize(
    "rows",
    [[Seen()] * (LARGE - 1), iter([Seen()] * LARGE), (Seen() for _ in range(LARGE))],
    ids=["small", "iterator", "generator"],
)
def test_others_do_not(rows: Any) -> None:
    assert collects(Flat(), rows) == {True}


def test_nothing_pauses_unless_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seam, "pause_collector", False)
    assert collects(Flat(), [Seen()] * LARGE) == {True}


def test_nested_rows_pause() -> None:
    dumped = Nesting().dump([{"inner": [Seen()]}] * LARGE, many=True)
    assert dumped == [{"inner": [{"a": False}]}] * LARGE
    assert gc.isenabled()


def test_text_pauses_too() -> None:
    text = Flat().dumps([Seen()] * LARGE, many=True)
    assert "true" not in text
    assert text.count("false") == LARGE
    assert gc.isenabled()


def test_an_error_ends_the_pause() -> None:
    rows = [*[Seen()] * LARGE, Seen(then=lambda: 1 / 0)]
    with pytest.raises(ZeroDivisionError):
        Flat().dump(rows, many=True)
    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off() -> None:
    gc.disable()
    Flat().dump([Seen()] * LARGE, many=True)
    assert not gc.isenabled()


def test_a_pause_inside_a_pause_does_not_end_it() -> None:
    within = []

    def dump() -> None:
        within.append(Flat().dump([Seen()] * LARGE, many=True)[0]["a"])

    assert collects(Flat(), [Seen(dump), *[Seen()] * LARGE]) == {False}
    assert within == [False]
