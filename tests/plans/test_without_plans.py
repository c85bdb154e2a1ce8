"""``explain`` and ``stats`` where no plans run: switched off, or a pure build."""

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


KEYS = "['built', 'dump', 'load', 'many', 'no_plans', 'readers', 'schema', 'seen']"


def test_switched_off(program):
    reason = "ALTHAIA_PLANS=0 is set; unset it before the process starts"
    assert program(SCRIPT, env={"ALTHAIA_PLANS": "0"}).splitlines() == [
        "__main__.User",
        f"  no plans run: {reason}",
        f"<Explanation of __main__.User: no plans run: {reason}>",
        *(KEYS, "{}"),
    ]


def test_switched_on(program):
    shown = program(SCRIPT, env={"ALTHAIA_PLANS": "1"}).splitlines()
    if engine is None:
        assert shown[1].startswith("  no plans run: this is a pure build")
        assert shown[-2:] == [KEYS, "{}"]
    else:
        assert shown[1] == "  dump: 1 of 1 field planned"
        assert "__main__.User" in shown[-1]


@pytest.mark.skipif(engine is None, reason="in a pure build upstream's methods ask no engine")
def test_an_engine_that_is_switched_off_is_looked_for_once(program):
    script = """
from althaia import marshmallow as ma, seam

assert seam._connectors
schema = ma.Schema.from_dict({"name": ma.fields.String()})()
assert schema.dump({"name": 1}) == {"name": "1"} == schema.load({"name": "1"})
assert not seam._connectors and seam.dump(schema, {}, None) is seam.DECLINED
assert seam.construct(schema, None, (), None, (), (), None, None) is False
"""
    program(script, env={"ALTHAIA_PLANS": "0"})
