"""The comparison before the clock: a planted difference of any sort is found and named."""

import datetime as dt

import pytest

from benchmarks.cases.calls import Invalid, Rejected, paths_of
from benchmarks.equality import difference

OUTPUT = [
    {
        "id": 1, "author": {"name": "Ada", "age": 40.5}, "tags": ["a", "b"], "none": None,
        "at": dt.date(2024, 1, 1), "nan": float("nan"),
    }
]  # fmt: skip


def changed(**changes):
    return [{**OUTPUT[0], **changes}]


@pytest.mark.parametrize(
    ("actual", "where"),
    [
        (changed(id=2), "output[0]['id']"),
        (changed(id=1.0), "output[0]['id']"),
        (changed(id=True), "output[0]['id']"),
        (changed(author={"name": "Ada", "age": 41.0}), "output[0]['author']['age']"),
        (changed(author={"age": 40.5, "name": "Ada"}), "output[0]['author']"),
        (changed(author={"name": "Ada"}), "output[0]['author']"),
        (changed(tags=["a"]), "output[0]['tags']"),
        (changed(tags=("a", "b")), "output[0]['tags']"),
        (changed(tags=["a", "c"]), "output[0]['tags'][1]"),
        (changed(none=""), "output[0]['none']"),
        (changed(at=dt.datetime(2024, 1, 1)), "output[0]['at']"),
        (changed(nan=float("nan")), "none"),
        ([], "output"),
        (None, "output"),
    ],
)
def test_a_planted_difference_is_named(actual, where):
    assert (difference(OUTPUT, actual) or "none:").partition(":")[0] == where


def test_the_order_of_keys_counts_for_drop_ins_only():
    other = [dict(reversed(OUTPUT[0].items()))]
    assert difference(OUTPUT, other) is not None
    assert difference(OUTPUT, other, ordered=False) is None
    assert difference(OUTPUT, [{}], ordered=False) is not None


def test_failed_loads_are_compared_by_messages_and_valid_data():
    one = Invalid({0: {"age": ["Too low."]}}, [{"name": "Ada"}])
    assert difference(one, Invalid({0: {"age": ["Too low."]}}, [{"name": "Ada"}])) is None
    assert "messages" in difference(one, Invalid({0: {"age": ["Odd."]}}, [{"name": "Ada"}]))
    assert "valid data" in difference(one, Invalid({0: {"age": ["Too low."]}}, []))
    assert difference(one, [{"name": "Ada"}]) is not None


def test_errors_of_other_libraries_are_compared_by_place():
    one = Invalid({0: {"age": ["Too low."]}, 3: {"author": {"name": ["Missing."]}}}, [])
    assert paths_of(one.messages) == [(0, "age"), (3, "author", "name")]
    assert difference(one, Rejected([(3, "author", "name"), (0, "age")])) is None
    assert "places" in difference(one, Rejected([(0, "age")]))
