"""The benchmark of real applications: what is compared, and what stands in its tables."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from benchmarks.applications import __main__ as parent
from benchmarks.applications import worker
from benchmarks.applications.environments import Application

APPLICATION = Application("shop", "shop")


class Model:
    def __init__(self, **attributes: Any) -> None:
        vars(self).update(attributes)


def side(us: float | None, answer: str = "a") -> dict[str, Any]:
    return {
        "versions": {"python": "3.11.7", "marshmallow": "4.4.0"},
        "classes": 2,
        "measured": 1,
        "startup_s": 0.5,
        "import_mb": 20.0,
        "use_mb": 1.0,
        "uses_us": [100.0, 50.0, 50.0, 50.0],
        "rows": {
            "shop.S S().dump": {"answer": [answer, answer], "us": us},
            "shop.S dump 30": {"answer": ["b", "b"], "us": us and us * 10},
        },
        "why": {"shop.S": ["built: on_bind_field is overridden"]},
    }


def test_another_answer_is_an_error() -> None:
    with pytest.raises(parent.Different, match=r"shop: shop\.S S\(\)\.dump has another answer"):
        parent.compare(APPLICATION, side(1.0)["rows"], side(1.0, "c")["rows"])


def test_a_missing_row_is_an_error() -> None:
    fewer = dict(side(1.0)["rows"])
    del fewer["shop.S dump 30"]
    with pytest.raises(parent.Different, match="on one side only"):
        parent.compare(APPLICATION, side(1.0)["rows"], fewer)


def test_equal_answers_pass() -> None:
    parent.compare(APPLICATION, side(4.0)["rows"], side(1.0)["rows"])


def test_the_best_of_both_sides_is_compared() -> None:
    pairs = [[side(8.0), side(4.0)], [side(6.0), side(2.0)]]
    found = parent.summary(APPLICATION, pairs)
    assert found["rows"] == {"shop.S S().dump": 3.0, "shop.S dump 30": 3.0}
    assert found["slowest"][0]["why"] == ["built: on_bind_field is overridden"]
    assert found["first_use"] == 1.0


def test_calls_that_raise_are_compared_but_not_timed() -> None:
    plain, patched = side(4.0), side(2.0)
    for one in (plain, patched):
        one["rows"]["shop.S S().load"] = {"answer": ["e", "e"], "us": None}
    found = parent.summary(APPLICATION, [[plain, patched]])
    assert "shop.S S().load" not in found["rows"]
    assert found["answers"] == 6


def test_the_tables_name_every_application_and_the_slowest_rows() -> None:
    found = [parent.summary(APPLICATION, [[side(8.0), side(4.0)]])]
    distribution, young, slow = parent.tables(found)
    assert "| shop | 4.4.0 | 1 of 2 | 2 | 2.00 | 2.0 to 2.0 | 2.0 | 2 |" in distribution
    assert "| shop | 1.0 | 1.0 | 0.5 / 0.5 |" in young
    assert "on_bind_field is overridden" in slow


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1}, {"a": 1.0}),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ([1], (1,)),
        (Model(a=1), Model(a=2)),
        (date(2024, 1, 1), date(2024, 1, 2)),
    ],
)
def test_values_that_differ_have_other_digests(one: Any, other: Any) -> None:
    assert worker.answer(lambda: one) != worker.answer(lambda: other)


def test_objects_without_a_repr_of_their_own_are_compared_by_their_attributes() -> None:
    assert worker.answer(lambda: Model(a=[1])) == worker.answer(lambda: Model(a=[1]))


def test_an_error_is_an_answer() -> None:
    def fails(message: str) -> None:
        raise ValueError(message)

    returned, digest = worker.answer(lambda: fails("one"))
    assert not returned
    assert worker.answer(lambda: fails("one")) == (False, digest)
    assert worker.answer(lambda: fails("two")) != (False, digest)
