"""Schemas that worker processes find by name."""

import os
import signal
import sys
import time
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path

from marshmallow import Schema, fields, post_load, pre_load, validate


class LineSchema(Schema):
    position = fields.Integer(required=True)
    price = fields.Decimal(places=2, as_string=True)


class OrderSchema(Schema):
    id = fields.Integer(required=True, strict=True)
    name = fields.String(validate=validate.Length(max=20))
    at = fields.AwareDateTime()
    day = fields.Date()
    key = fields.UUID()
    paid = fields.Boolean()
    rate = fields.Float(allow_none=True)
    lines = fields.List(fields.Nested(LineSchema))


class CellsSchema(Schema):
    id = fields.Integer(required=True)
    text = fields.String(allow_none=True)


class RenamedSchema(CellsSchema):
    @pre_load
    def rename(self, data, **_):
        return {name.lower(): value for name, value in data.items()}


class KillingSchema(Schema):
    """Loading id 13 kills the process: always, or until a file is there."""

    id = fields.Integer()

    @post_load
    def kill(self, data, **_):
        if data["id"] == 13:
            once = os.environ.get("TEST_KILL_ONCE")
            if once is None or not Path(once).exists():
                if once is not None:
                    Path(once).touch()
                os.kill(os.getpid(), signal.SIGKILL)
        return data


class KillingWhileSendingSchema(Schema):
    """Loading id 13 has the process killed in the middle of what it sends next, once."""

    id = fields.Integer()
    text = fields.String()

    @post_load
    def kill(self, data, **_):
        once = Path(os.environ["TEST_KILL_ONCE"])
        if data["id"] == 13 and not once.exists():
            once.touch()
            Connection._send = self.send_half
        return data

    @staticmethod
    def send_half(connection, data, write=os.write):
        write(connection.fileno(), data[: len(data) // 2])
        os.kill(os.getpid(), signal.SIGKILL)


class SlowSchema(Schema):
    """Loading id 13 takes time; a file is given the number of the process when it begins."""

    id = fields.Integer()

    @post_load
    def wait(self, data, **_):
        if data["id"] == 13:
            Path(os.environ["TEST_BEGAN"]).write_text(str(os.getpid()))
            with suppress(BaseException if "TEST_SWALLOW" in os.environ else ()):
                time.sleep(float(os.environ.get("TEST_SECONDS", "600")))
        return data


class WhichSchema(Schema):
    id = fields.Integer()

    @post_load
    def which(self, data, **_):
        compiled = sys.modules.get("althaia.marshmallow")
        return {"id": compiled is not None and sys.modules["marshmallow"] is compiled}


GeneratedSchema = Schema.from_dict(
    {"lines": fields.List(fields.Nested("tests.bulk.schemas.LineSchema"), required=True)},
    name="GeneratedSchema",
)
"""Nests a class by a name that marshmallow knows only where this module is imported."""
