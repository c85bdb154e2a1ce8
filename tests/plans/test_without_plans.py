"""``explain`` and ``stats`` where no plans run: switched off, or a pure build."""

import os
import subprocess
import sys

import pytest

from tests.conformance.harness import engine

SCRIPT = """
import althaia
from althaia import marshmallow as ma

class User(ma.Schema):
    name = ma.fields.String()

User().dump({"name": "x"})
explanation = althaia.explain(User)
print(explanation.as_text())
print(repr(explanation))
print(sorted(explanation.as_dict()))
print(althaia.stats())
"""


def run(script=SCRIPT, **environment):
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


def test_switched_off():
    reason = "ALTHAIA_PLANS=0 is set; unset it before the process starts"
    assert run(ALTHAIA_PLANS="0") == [
        "__main__.User",
        f"  no plans run: {reason}",
        f"<Explanation of __main__.User: no plans run: {reason}>",
        "['built', 'dump', 'load', 'many', 'no_plans', 'readers', 'schema', 'seen']",
        "{}",
    ]


def test_switched_on():
    shown = run(ALTHAIA_PLANS="1")
    if engine is None:
        assert shown[1].startswith("  no plans run: this is a pure build")
        assert shown[-2:] == [
            "['built', 'dump', 'load', 'many', 'no_plans', 'readers', 'schema', 'seen']",
            "{}",
        ]
    else:
        assert shown[1] == "  dump: 1 of 1 field planned"
        assert "__main__.User" in shown[-1]


@pytest.mark.skipif(engine is None, reason="in a pure build upstream's methods ask no engine")
def test_an_engine_that_is_switched_off_is_looked_for_once():
    script = """
from althaia import marshmallow as ma, seam

assert seam._connectors
schema = ma.Schema.from_dict({"name": ma.fields.String()})()
assert schema.dump({"name": 1}) == {"name": "1"} == schema.load({"name": "1"})
assert not seam._connectors and seam.dump(schema, {}, None) is seam.DECLINED
assert seam.construct(schema, None, (), None, (), (), None, None) is False
print("done")
"""
    assert run(script, ALTHAIA_PLANS="0") == ["done"]
