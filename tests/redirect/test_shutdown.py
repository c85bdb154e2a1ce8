"""What is used for the first time while the interpreter shuts down answers as upstream does."""

import sys

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
def test_the_first_use_of_all(program):
    ours = program(FIRST_USE, env={"ALTHAIA_PATCH": "1"})
    assert ours.count("[{\"a\": 1}] {'a': 2}") == 3
    assert not UPSTREAM_ANSWERS or ours == program(FIRST_USE)


@frees_at_exit
def test_the_first_plan_with_a_format(program):
    ours = program(DATES, env={"ALTHAIA_PATCH": "1"})
    assert ours == "{'a': 1}\n" * 3
    assert not UPSTREAM_ANSWERS or ours == program(DATES)
