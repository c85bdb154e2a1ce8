"""The cases do the work they say, the same on upstream and on ours; nothing is timed."""

from __future__ import annotations

import pytest

from benchmarks.cases import CASES, rows, select
from benchmarks.cases.calls import Invalid
from benchmarks.equality import difference
from benchmarks.model import Case, Goal, by_name
from benchmarks.rows import both

REACH = {
    "quotes-1000": 10,
    "children-1": 15,
    "children-100": 15,
    "flat-dicts": 10,
    "flat-objects": 10,
    "flat-slots": 10,
    "flat-orm": 10,
    "flat-rows": 12,
    "flat-dataclasses": 10,
    "flat-attrs": 10,
    "flat-django": 8,
    "orm-orders": 6,
    "orders": 10,
    "small": 6,
    "own-fields": 2,
    "bulk": 15,
    "load-quotes-1000": 36,
    "load-quotes-1000-invalid": 10,
    "load-flat": 6,
    "load-orders": 36,
    "load-orders-invalid": 10,
    "load-small": 11,
    "load-small-invalid": 5,
    "validate-small": 3,
    "load-validated": 7,
    "load-validated-invalid": 5,
    "load-own-fields": 1.5,
    "load-hooks": 1.5,
    "load-bulk": 8,
    "new-dump": 10,
    "new-load": 8,
    "new-nested-dump": 12,
    "new-only-dump": 8,
    "schema-class": 2.5,
    "new-dump-own": 8,
    "new-load-own": 5,
    "new-dump-own-3": 5,
    "new-load-own-3": 5,
    "new-dump-bind-hook": 4,
    "new-load-bind-hook": 5,
    "new-dump-wrapped": 8,
    "new-load-wrapped": 10,
    "new-dump-given": 5,
    "new-load-given": 5,
    "new-dump-looks-at-fields": 4,
    "new-load-looks-at-fields": 4,
    "new-dump-nested-instance": 7,
    "new-load-nested-instance": 7,
    "new-dump-nested-function": 6,
    "new-load-nested-function": 6,
    "new-dump-callable": 8,
    "new-load-callable": 10,
    "new-dump-delimited": 8,
    "new-load-delimited": 5,
    "new-dump-sqla": 6,
    "new-load-sqla": 5,
    "new-dump-sqla-nested": 6,
    "new-load-sqla-nested": 5,
    "new-load-sqla-dict": 8,
    "new-load-sqla-exclude": 8,
    "new-load-sqla-related": 3,
    "new-load-sqla-reused": 8,
    "new-load-sqla-session": 3,
    "from-dict": 4,
    "dumps-quotes": 9,
    "dumps-flat": 14,
    "dumps-orders": 13,
    "dumps-small": 7,
    "encode-flat": 3,
    "jsonify-flat": 3,
    "pack-flat": 4,
    "loads-quotes": 16,
    "loads-flat": 14,
    "loads-orders": 20,
    "loads-small": 7,
}


def test_every_row_of_the_speed_tables_is_a_case():
    assert {case.name: case.goal.reach for case in rows()} == REACH


@pytest.mark.parametrize("name", CASES)
def test_both_sides_give_the_same_and_give_it_again(name):
    if name == "flat-sqlmodel":
        pytest.importorskip("sqlmodel", reason="not yet there for this Python")
    if name.startswith("pack-"):
        pytest.importorskip("msgpack", reason="not yet there for this Python")
    # Of the invalid objects every tenth is spoiled, so that two of twenty are.
    upstream, ours = both(CASES[name], min(CASES[name].objects, 20))
    expected = upstream()
    assert difference(expected, ours()) is None
    assert difference(expected, ours()) is None
    if "invalid" in name:
        assert isinstance(expected, Invalid)
        assert expected.messages
    else:
        assert not isinstance(expected, Invalid), expected.messages
        # validate() returns the errors, and these objects have none.
        assert expected == {} if name == "validate-small" else expected


def test_a_name_is_found_by_a_part_of_it():
    assert [case.name for case in select("orders")] == ["orders"]
    assert {case.name for case in select("orders-inv")} == {"load-orders-invalid"}
    with pytest.raises(LookupError, match="there are: quotes-1, "):
        select("no such case")


def test_two_cases_of_one_name_are_a_mistake():
    case = Case("one", "", "dump", 1, lambda ma, count: lambda: None)
    with pytest.raises(ValueError, match="'one'"):
        by_name([case, case])


def test_verdicts():
    goal = Goal("dump", 10, 14)
    assert [goal.verdict(x) for x in (9.9, 10, 14)] == ["below", "reached", "aim"]
    assert Goal("dump", 2).verdict(99) == "reached"
