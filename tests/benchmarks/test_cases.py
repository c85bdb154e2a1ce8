"""The cases do the work they say, the same on upstream and on ours; nothing is timed."""

import pytest

from benchmarks.cases import CASES
from benchmarks.cases.calls import Invalid
from benchmarks.equality import difference
from benchmarks.rows import both


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
