"""The cases do the work they say, the same on upstream and on ours; nothing is timed."""

import pytest

from benchmarks.cases import CASES, rows, select
from benchmarks.cases.calls import Invalid
from benchmarks.equality import difference
from benchmarks.model import Case, Goal, by_name
from benchmarks.rows import both

# By what they reach.
ROWS = {
    1.5: "load-own-fields load-hooks",
    2: "own-fields",
    2.5: "schema-class",
    3: "validate-small new-load-sqla-related new-load-sqla-session encode-flat jsonify-flat",
    4: ("new-dump-bind-hook new-dump-looks-at-fields new-load-looks-at-fields from-dict pack-flat"),
    5: (
        "load-small-invalid load-validated-invalid new-load-own new-dump-own-3 new-load-own-3 "
        "new-load-bind-hook new-dump-given new-load-given new-load-delimited new-load-sqla "
        "new-load-sqla-nested"
    ),
    6: (
        "orm-orders small load-flat new-dump-nested-function new-load-nested-function "
        "new-dump-sqla new-dump-sqla-nested"
    ),
    7: ("load-validated new-dump-nested-instance new-load-nested-instance dumps-small loads-small"),
    8: (
        "flat-django load-bulk new-load new-only-dump new-dump-own new-dump-wrapped "
        "new-dump-callable new-dump-delimited new-load-sqla-dict new-load-sqla-exclude "
        "new-load-sqla-reused"
    ),
    9: "dumps-quotes",
    10: (
        "quotes-1000 flat-dicts flat-objects flat-slots flat-orm flat-dataclasses flat-attrs "
        "orders load-quotes-1000-invalid load-orders-invalid new-dump new-load-wrapped "
        "new-load-callable"
    ),
    11: "load-small",
    12: "flat-rows new-nested-dump",
    13: "dumps-orders",
    14: "dumps-flat loads-flat",
    15: "children-1 children-100 bulk",
    16: "loads-quotes",
    20: "loads-orders",
    36: "load-quotes-1000 load-orders",
}


def test_every_row_of_the_speed_tables_is_a_case():
    reach = {name: figure for figure, names in ROWS.items() for name in names.split()}
    assert {case.name: case.goal.reach for case in rows()} == reach


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
