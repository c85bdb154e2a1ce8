"""ALTHAIA_COMPARE, and compare() before the engine is loaded."""

import pytest

from tests.engine import NEEDS_ENGINE
from tests.redirect.processes import program

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


@NEEDS_ENGINE
@pytest.mark.parametrize(
    ("env", "first", "expected"),
    [
        ({}, "", "0.0 0 0"),
        ({"ALTHAIA_COMPARE": "1"}, "", "1.0 2 0"),
        ({"ALTHAIA_COMPARE": "0"}, "", "0.0 0 0"),
        ({}, "althaia.compare()", "1.0 2 0"),
        ({"ALTHAIA_COMPARE": "0.5"}, "althaia.compare(1.0)", "1.0 2 0"),
        ({"ALTHAIA_COMPARE": "1", "ALTHAIA_PLANS": "0"}, "", "0.0 0 0"),
        ({"ALTHAIA_COMPARE": "1", "ALTHAIA_DISABLE": "1"}, "", "0.0 0 0"),
    ],
)
def test_ways_in(env, first, expected, tmp_path):
    assert program(CALLS.format(first=first), cwd=tmp_path, env=env).strip() == expected


@NEEDS_ENGINE
@pytest.mark.parametrize("moment", ["import althaia", "from marshmallow import Schema, fields"])
def test_compare_before_there_is_a_schema(moment, tmp_path):
    code = CALLS.format(first="").replace(moment, f"{moment}\nimport althaia\nalthaia.compare()")
    assert program(code, cwd=tmp_path).strip() == "1.0 2 0"


def test_nothing_of_it_is_loaded_unless_asked_for(tmp_path):
    code = CALLS.format(first="").split("report =")[0]
    code += "import sys\nprint([m for m in sys.modules if m.startswith('althaia.trust')])"
    assert program(code, cwd=tmp_path).strip() == "[]"
