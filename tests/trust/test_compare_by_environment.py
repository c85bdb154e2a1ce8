"""ALTHAIA_COMPARE, and compare() before the engine is loaded."""

import pytest

from tests.engine import NEEDS_ENGINE

CALLS = """
import althaia
althaia.patch()
from marshmallow import Schema, fields
class S(Schema):
    a = fields.Int()
{first}
S().dump({{"a": 1}})
S().load({{"a": 1}})
report = althaia.compare_report()
print(report.rate, report.compared, report.different)
"""


WAYS_IN = [
    ({}, "", "0.0 0 0"),
    ({"ALTHAIA_COMPARE": "1"}, "", "1.0 2 0"),
    ({"ALTHAIA_COMPARE": "0"}, "", "0.0 0 0"),
    ({}, "althaia.compare()", "1.0 2 0"),
    ({"ALTHAIA_COMPARE": "0.5"}, "althaia.compare(1.0)", "1.0 2 0"),
    ({"ALTHAIA_COMPARE": "1", "ALTHAIA_PLANS": "0"}, "", "0.0 0 0"),
    ({"ALTHAIA_COMPARE": "1", "ALTHAIA_DISABLE": "1"}, "", "0.0 0 0"),
]


@NEEDS_ENGINE
@pytest.mark.parametrize(("env", "first", "expected"), WAYS_IN)
def test_ways_in(env, first, expected, program):
    assert program(CALLS.format(first=first), env=env).strip() == expected


@NEEDS_ENGINE
@pytest.mark.parametrize("moment", ["import althaia", "from marshmallow import Schema, fields"])
def test_compare_before_there_is_a_schema(moment, program):
    code = CALLS.format(first="").replace(moment, f"{moment}\nimport althaia\nalthaia.compare()")
    assert program(code).strip() == "1.0 2 0"


def test_nothing_of_it_is_loaded_unless_asked_for(program):
    code = CALLS.format(first="").split("report =")[0]
    code += "import sys\nprint([m for m in sys.modules if m.startswith('althaia.trust')])"
    assert program(code).strip() == "[]"
