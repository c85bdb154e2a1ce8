"""The benchmark of real applications: what is compared, and what stands in its tables."""

from datetime import date
from types import SimpleNamespace

import pytest

from benchmarks.applications import __main__ as parent, worker
from benchmarks.applications.environments import Application
from tests.unlike import OBJECTS, unlike

APPLICATION = Application("shop", "shop")
STARTS = [[1.5, 1.75], [1.25, 2.0]]


def side(us, answer="a", own=0.0):
    return {
        "versions": {"python": "3.11.7", "marshmallow": "4.4.0"},
        "classes": 2,
        "measured": 1,
        "import_mb": 20.0,
        "use_mb": 1.0,
        "uses_us": [100.0, *[50.0] * 7],
        "rows": {
            "shop.S S().dump": {"answer": [answer, answer], "us": us, "own": own},
            "shop.S dump 30": {"answer": ["b", "b"], "us": us and us * 10, "own": own},
        },
        "why": {"shop.S": ["built: on_bind_field is overridden"]},
    }


def test_other_and_missing_answers_are_errors():
    rows = side(1.0)["rows"]
    parent.compare(APPLICATION, side(4.0)["rows"], rows)
    with pytest.raises(parent.Different, match=r"shop: shop\.S S\(\)\.dump has another answer"):
        parent.compare(APPLICATION, rows, side(1.0, "c")["rows"])
    with pytest.raises(parent.Different, match="on one side only"):
        parent.compare(APPLICATION, rows, {"shop.S S().dump": rows["shop.S S().dump"]})


def test_the_best_of_both_sides_is_compared():
    pairs = [[side(8.0), side(4.0)], [side(6.0), side(2.0)]]
    for one in (each for pair in pairs for each in pair):
        # A call that raises is not timed.
        one["rows"]["shop.S S().load"] = {"answer": ["e", "e"], "us": None, "own": None}
    found = parent.summary(APPLICATION, pairs, STARTS)
    assert found["rows"] == {"shop.S S().dump": [3.0, 0.0], "shop.S dump 30": [3.0, 0.0]}
    assert found["slowest"][0]["why"] == ["built: on_bind_field is overridden"]
    assert found["uses"] == {1: 1.0, 4: 1.0, 8: 1.0}
    assert (found["startup_s"], found["answers"]) == ([1.25, 1.75], 6)
    distribution, young, slow = parent.tables([found])
    assert "| shop | 4.4.0 | 1 of 2 |" in distribution
    assert "| shop | 1.0 | 1.0 | 1.0 | 1.25 / 1.75 |" in young
    assert "on_bind_field is overridden" in slow


@unlike(*OBJECTS, (date(2024, 1, 1), date(2024, 1, 2)))
def test_values_that_differ_have_other_digests(one, other):
    assert worker.answer(lambda: one) != worker.answer(lambda: other)


def test_equal_objects_and_equal_errors_are_one_answer():
    def fails(message):
        raise ValueError(message)

    assert worker.answer(lambda: SimpleNamespace(a=[1])) == worker.answer(
        lambda: SimpleNamespace(a=[1])
    )
    returned, digest = worker.answer(lambda: fails("one"))
    assert not returned
    assert worker.answer(lambda: fails("one")) == (False, digest)
    assert worker.answer(lambda: fails("two")) != (False, digest)


def test_time_in_the_applications_functions_is_told_from_marshmallows():
    from marshmallow import Schema, fields, post_dump

    class Slow(Schema):
        a = fields.Int()

        @post_dump
        def work(self, data, **kwargs):
            for _ in range(2000):
                data = dict(data)
            return data

    class Quick(Schema):
        a = fields.List(fields.Int())

    assert worker.own_share(lambda: Slow().dump({"a": 1}), 500.0) > 0.5
    # The library's functions that marshmallow calls are marshmallow's.
    assert worker.own_share(lambda: Quick().dump({"a": [1] * 500}), 500.0) < 0.2
