"""Hostile text: the exception that upstream's way gives, no crash, whatever the stack."""

from importlib.util import find_spec

import pytest

from tests.hostile.processes import run, skip_where_the_interpreter_crashes

pytestmark = pytest.mark.skipif(
    find_spec("althaia.formats.codec") is None, reason="a pure build has no parsers"
)

SMALL, NORMAL = "128", "8192"


@pytest.mark.parametrize("library", ["plans", pytest.param("no plans", marks=pytest.mark.slow)])
def test_on_an_ordinary_stack(library):
    ours, theirs = run("texts", library, NORMAL), run("texts", "upstream", NORMAL)
    ours.check()
    theirs.check()
    for what, said in theirs.results.items():
        if what.endswith(" seconds"):
            continue
        if what.startswith("dump deep"):
            # Here the end of the stack is met, in json the interpreter's limit.
            assert (ours.of(what)[:14], said[:14]) == ("RecursionError", "RecursionError")
        else:
            assert ours.of(what) == said, what
    deep = "MessagePackDecodeError: nested more than 1024 deep"
    assert ours.of("packed openings").startswith(deep)
    assert ours.of("packed deep") == "ok"
    claims = "MessagePackDecodeError: cut off: a container of 4294967295"
    assert ours.of("packed claims").startswith(claims)
    seconds = [result for what, result in ours.results.items() if what.endswith(" seconds")]
    assert max(seconds) < 60


def test_on_a_stack_of_128_kib():
    """Without plans the standard library itself may crash here."""
    skip_where_the_interpreter_crashes("small stack")
    found = run("texts", "plans", SMALL)
    found.check()
    assert found.of("64 deep") == "ok"
    assert found.of("one text") == "ok"
    assert found.of("packed deep") == "ok" or found.of("packed deep").startswith("RecursionError")
    for what in ("openings", "objects", "deep", "deep where text belongs", "deep unknown"):
        assert found.of(what).startswith("RecursionError")
    for what in ("dump deep lists", "dump deep dicts", "dump deep objects"):
        assert found.of(what).startswith("RecursionError")
    assert found.of("dump one text") == "ok"
