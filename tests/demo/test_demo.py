"""The demo compares what it says it compares, and its exit code can be trusted."""

from pathlib import Path
from types import SimpleNamespace

import pytest

import althaia
from demo.measure import Case, DemoError, check_libraries, compare
from demo.worker import canonical
from tests.redirect import processes
from tests.unlike import unlike

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
REAL = {"file": "/env/marshmallow/schema.py", "ours": False, "engine": False}
OURS = {"file": "/env/althaia/marshmallow/schema.so", "ours": True, "engine": True}


def test_a_small_run_is_identical_and_says_so():
    said = processes.succeed("-m", "demo", "--limit", "300", "--rounds", "1", cwd=ROOT)
    assert "all ORM objects, nested" in said
    assert "300" in said
    assert "-m althaia bench" in said.splitlines()[-1]
    assert ("A pure build" in said) is not althaia.info().compiled


@pytest.mark.parametrize(
    ("upstream", "patched", "told"),
    [
        (OURS, OURS, "not the real"),
        (REAL, REAL, "not patched"),
        (REAL, {**OURS, "engine": False}, "uncompiled"),
    ],
)
def test_the_wrong_library_is_an_error(upstream, patched, told, monkeypatch):
    monkeypatch.setattr("demo.measure.is_pure", lambda _: False)
    with pytest.raises(DemoError, match=told):
        check_libraries(upstream, patched)
    check_libraries(REAL, OURS)


@pytest.mark.parametrize(("digests", "told"), [("ab", None), ("ac", "row 1"), ("a", "2 rows")])
def test_a_difference_is_named(digests, told):
    def worker(digests):
        def ask(command, *args):
            return digests if command == "digests" else f"row {args[-1]} as {digests}"

        return SimpleNamespace(ask=ask)

    difference = compare(Case("any", "any", 1), worker(["a", "b"]), worker([*digests]))
    assert difference is None if told is None else told in str(difference)


@unlike()
def test_the_canonical_form_tells_types_and_order_apart(one, other):
    assert list(canonical(one)) != list(canonical(other))
