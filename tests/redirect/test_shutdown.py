"""What is used for the first time while the interpreter shuts down answers as upstream does."""

import sys

import pytest

from tests.interpreters import frees_at_exit

# In later releases a dict is no Mapping any more when the collector finds the buffer.
UPSTREAM_ANSWERS = sys.version_info < (3, 14)

FIRST_USE = """
    from marshmallow import Schema, fields, ValidationError

    class Row(Schema):
        a = fields.Int()

    class Buffer:
        def __init__(self):
            self.schema, self.one, self.error = Row(many=True), Row(), ValidationError
            self.me = self

        def __del__(self):
            for _ in range(3):
                print(self.schema.dumps([{"a": 1}]), self.one.dump({"a": "2"}), flush=True)
                print(self.one.load({"a": "3"}), self.one.loads('{"a": 4}'), flush=True)
                try:
                    self.one.load({"a": "x"})
                except self.error as error:
                    print(error.messages, flush=True)

    buffer = Buffer()
"""

DATES = """
    import datetime as dt, sys
    from marshmallow import Schema, fields

    class Row(Schema):
        a = fields.Int()

    class Dated(Row):
        at = fields.DateTime(format="%Y %m")

    for _ in range(5):
        Row().load({"a": 1}), Row().dump({"a": 1})

    class Buffer:
        def __init__(self):
            self.schema, self.me = Dated(), self

        def __del__(self):
            for _ in range(3):
                print(self.schema.load({"a": "1"}), flush=True)

    buffer = Buffer()
    assert "_strptime" not in sys.modules
"""


@frees_at_exit
@pytest.mark.parametrize("code", [FIRST_USE, DATES], ids=["of all", "of a plan with a format"])
def test_the_first_use(program, code):
    ours = program(code, env={"ALTHAIA_PATCH": "1"})
    assert ours.count("{'a': 1}\n" if code is DATES else "[{\"a\": 1}] {'a': 2}") == 3
    assert not UPSTREAM_ANSWERS or ours == program(code)
