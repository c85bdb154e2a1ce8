"""Deep data, deep schemas and endless recursion raise RecursionError; nothing crashes."""

import sys
from functools import cache
from importlib.util import find_spec

import pytest

import althaia
from tests.hostile.processes import OURS, run

pytestmark = pytest.mark.slow

SMALL, SMALL_LEVELS = "128", ("10", "60", "1000", "20000")
NORMAL, NORMAL_LEVELS = "2048", ("15", "100", "240", "1000", "20000")
HAS_PLANS = find_spec("althaia.engine.door") is not None


@cache
def outcome(library, stack):
    found = run("depth", library, stack, *(SMALL_LEVELS if stack == SMALL else NORMAL_LEVELS))
    found.check()
    return found


def strange(found, shallow):
    """What neither worked nor raised RecursionError, or should have worked and did not."""
    return {
        what: result
        for what, result in found.results.items()
        if result not in ("ok", "RecursionError")
        or (result != "ok" and what.endswith((f" {shallow}", " again")))
    }


@pytest.mark.parametrize("library", OURS)
def test_on_an_ordinary_stack(library):
    found = outcome(library, NORMAL)
    assert not strange(found, shallow="15")
    assert found.of("dump_cycle 20000") == "RecursionError"
    assert found.of("load_dict 20000") == "RecursionError"


@pytest.mark.skipif(
    not althaia.info().compiled,
    reason="interpreted frames: how CPython uses a stack of 128 KiB is CPython's own affair",
)
@pytest.mark.skipif(
    hasattr(sys, "gettotalrefcount"),
    reason="a debug build's own frames take so much that it asks for 100 KiB at the least",
)
@pytest.mark.parametrize("library", OURS)
def test_on_a_stack_of_128_kib(library):
    found = outcome(library, SMALL)
    assert not strange(found, shallow="10")
    assert found.of("load_dict 1000") == "RecursionError"


@pytest.mark.parametrize("library", OURS)
def test_nothing_is_refused_that_upstream_accepts(library):
    accepted = {what for what, said in outcome("upstream", NORMAL).results.items() if said == "ok"}
    ours = outcome(library, NORMAL)
    assert {what for what in accepted if ours.of(what) != "ok"} == set()


@pytest.mark.parametrize("library", OURS)
def test_endless_recursion_ends_on_the_main_thread(library):
    found = run("depth", library, "0", "15", "20000")
    found.check()
    assert found.of("dump_cycle 20000") == "RecursionError"
    assert found.of("fields_within_themselves 20000") == "ok"


LEVELS_OF_A_RING = """
import sys
if {patched}:
    import althaia
    althaia.patch()
import marshmallow as ma

class Node(ma.Schema):
    next = ma.fields.Nested(lambda: Node())

class Ring:
    levels = 0
    @property
    def next(self):
        self.levels += 1
        return self

sys.setrecursionlimit({limit})
ring = Ring()
try:
    Node().dump(ring)
except RecursionError:
    print(ring.levels)
"""


@pytest.mark.skipif(not HAS_PLANS, reason="interpreted code is counted by CPython")
@pytest.mark.parametrize("limit", [200, 1000])
def test_the_recursion_limit_ends_compiled_recursion_somewhat_later(limit, program):
    upstream, ours = (
        int(program(LEVELS_OF_A_RING.format(patched=patched, limit=limit)))
        for patched in (False, True)
    )
    assert upstream <= ours <= 3 * upstream
