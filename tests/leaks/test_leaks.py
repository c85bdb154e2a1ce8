"""Nothing grows with the number of calls, and nothing outlives what it was made for."""

import json
import os

import pytest

import althaia
from tests.interpreters import frees_at_exit
from tests.leaks.measure import MEASURES
from tests.redirect import processes

pytestmark = pytest.mark.slow

FACTOR = int(os.environ.get("LEAK_FACTOR", "1"))

ROUNDS = {
    "dumps": 20_000, "loads": 8_000, "errors": 1_200, "texts": 2_000, "streams": 500, "freed": 1,
    "packed": 2_000, "changes": 1_000, "instances": 3_000, "classes": 500,
}  # fmt: skip

SLACK = 60
"""Memory blocks that may come and go: free lists, caches of CPython's own. A leak of one block
a round shows as thousands."""

PURE_SLACK = 400
"""Interpreted, upstream's own frames and inline caches come and go by hundreds of blocks; one
block a round would still be far beyond."""

MORE_SLACK = {"changes": 400}
"""Where each round throws hundreds of objects away, more of them are on their way."""

FEW_REFERENCES = 20
"""Unlike blocks, references that a debug build counts come out even."""


def printed(module, *arguments, **environment):
    words = ("-m", f"tests.leaks.{module}", *arguments)
    return json.loads(processes.succeed(*words, cwd=None, env=environment, timeout=900))


@pytest.mark.parametrize("name", [name for name in ROUNDS if name != "freed"])
def test_nothing_grows(name):
    assert ROUNDS.keys() == MEASURES.keys()
    shown = printed("measure", name, str(ROUNDS[name] * FACTOR))
    slack = SLACK if althaia.info().compiled else PURE_SLACK
    assert shown["blocks"] <= max(slack, MORE_SLACK.get(name, 0))
    assert not any(shown["references"])
    # All references of the process; 0 but in a debug build.
    assert shown["total"] <= FEW_REFERENCES
    # A generator or a function each round would show as a reference to its type each round.
    assert shown["types"] < 50


@pytest.mark.parametrize("plans", ["1", "0"])
def test_what_is_let_go_is_freed(plans):
    assert printed("measure", "freed", "1", ALTHAIA_PLANS=plans) == {"alive": []}


@frees_at_exit
def test_classes_that_were_used_are_freed(tmp_path):
    file = tmp_path / "left open"
    shown = printed("kept", str(file))
    assert (shown["alive"], file.read_text()) == ([], "written")
    # One object a use would be 400.
    assert shown["grown"] < 100
