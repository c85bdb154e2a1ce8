"""Several interpreters in one process, as uWSGI with two mounts and mod_wsgi have them."""

import sys
from textwrap import dedent

import pytest

from tests.engine import NEEDS_ENGINE
from tests.redirect.processes import run

pytestmark = [
    NEEDS_ENGINE,
    pytest.mark.skipif(
        sys.implementation.name != "cpython", reason="another interpreter of CPython's"
    ),
]

APPLICATION = """
import althaia
althaia.patch()
from marshmallow import Schema, ValidationError, fields

class User(Schema):
    name = fields.String(required=True)
    born = fields.Integer()

assert User().dump({"name": "Ada", "born": "1815"}) == {"name": "Ada", "born": 1815}
assert User(many=True).load([{"name": "Ada"}]) == [{"name": "Ada"}]
try:
    User().load({})
except ValidationError as error:
    assert error.messages == {"name": ["Missing data for required field."]}
print(type(User.load).__name__, althaia.is_patched())
"""

SECOND = """
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
make = {create}
second = make()
failure = interpreters.run_string(second, APPLICATION)
assert failure is None, failure
"""

LEGACY = (
    "lambda: interpreters.create('legacy') if hasattr(interpreters, 'new_config') "
    "else interpreters.create(isolated=False)"
)


def start(program, folder):
    code = f"APPLICATION = {APPLICATION!r}\n{dedent(program)}"
    done = run("-c", code, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines(), done.stderr


@pytest.mark.parametrize("create", [LEGACY, "interpreters.create"], ids=["shared GIL", "isolated"])
def test_the_second_interpreter_runs_the_real_marshmallow_and_says_so(create, tmp_path):
    first = "exec(APPLICATION)\n"
    ended = f"{SECOND.format(create=create)}interpreters.destroy(second)\n"
    printed, errors = start(first + ended + first, tmp_path)
    ours = "cython_function_or_method True"
    assert printed == [ours, "function True", ours]
    assert errors.count("AlthaiaWarning") == 1
    assert "serve one interpreter of a process" in errors


def test_the_only_interpreter_that_imports_it_is_served(tmp_path):
    # From 3.14 on Python warns at its end of an interpreter that is left.
    ended = f"{SECOND.format(create=LEGACY)}interpreters.destroy(second)\n"
    printed, errors = start(ended, tmp_path)
    assert printed == ["cython_function_or_method True"]
    assert errors == ""
