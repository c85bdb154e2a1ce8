"""A function of upstream's that has changed costs what was planned for it."""

import json
import re

import pytest

from althaia import seam
from althaia.engine import planner
from tests.plans.narrowing import NO_PLAN_DEPENDS_ON, ROOT, SCHEMAS, entries, planned, reason_of
from tests.redirect.processes import succeed


@pytest.fixture(scope="module")
def narrowing():
    """The entries that narrow some plan where they differ."""
    usual = planned()
    found = set()
    with pytest.MonkeyPatch.context() as patch:
        for entry in entries():
            patch.setattr(seam, "unknown", frozenset({entry}))
            if planned(entry) != usual:
                found.add(entry)
    return found


MAY_DO_ANYTHING = re.compile("^$|may do anything$|by a field of the user's$")
"""Why a step is the field's own method: for no reason of the lock's."""


def test_everything_is_planned_as_long_as_nothing_differs():
    for schema in SCHEMAS:
        for direction in ("dump", "load"):
            plan = planner.build(schema(), direction)
            assert not plan.declined
            assert [each.why for each in plan.steps if not MAY_DO_ANYTHING.search(each.why)] == []


def test_each_entry_narrows_a_plan_or_has_a_reason_not_to(narrowing):
    assert [e for e in entries() if e not in narrowing and reason_of(e) is None] == []
    assert [e for e in entries() if e in narrowing and reason_of(e) is not None] == []
    for pattern in [p for patterns in NO_PLAN_DEPENDS_ON.values() for p in patterns]:
        assert any(re.fullmatch(pattern, entry) for entry in entries()), pattern


def test_what_rests_on_a_function_is_told():
    names = ("fields.Integer._validated", "schema.Schema._do_load", "fields.Field.__repr__")
    told = json.loads(succeed("-m", "tests.plans.narrowing", *names, cwd=ROOT))
    assert told["fields.Integer._validated"] == ["load of Dict, Integer, List, Tuple"]
    assert told["schema.Schema._do_load"] == ["each load"]
    assert told["fields.Field.__repr__"] == ["nothing: only shown"]
