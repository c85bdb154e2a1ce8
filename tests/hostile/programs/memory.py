"""Let each allocation of a dump and of a load fail, one after the other, also to and from text."""

import datetime as dt
import decimal
import enum
import gc
import json
import sys
import uuid

from althaia import msgpack, stream
from tests.hostile.programs import arguments, begin, library, report
from tests.hostile.programs.allocations import run

(LIBRARY,) = arguments()
m = library(LIBRARY)
fields = m.fields


class Colour(enum.Enum):
    RED = 1


class Child(m.Schema):
    name = fields.String(validate=m.validate.Length(max=20))
    tags = fields.List(fields.String())


class Everything(m.Schema):
    number = fields.Integer(data_key="no")
    ratio = fields.Float()
    price = fields.Decimal(places=2)
    when = fields.DateTime()
    key = fields.UUID()
    colour = fields.Enum(Colour)
    child = fields.Nested(Child)
    children = fields.List(fields.Nested(Child))
    table = fields.Dict(keys=fields.String(), values=fields.Integer())
    shout = fields.Method("make_shout", dump_default="")

    def make_shout(self, obj):
        return "LOUD"

    @m.post_dump
    def after_dump(self, data, **kwargs):
        data["done"] = True
        return data

    @m.pre_load
    def before_load(self, data, **kwargs):
        return {name: value for name, value in data.items() if name not in ("done", "shout")}

    @m.validates("number")
    def check_number(self, value, **kwargs):
        if value < 0:
            raise m.ValidationError("below zero")


def item():
    child = {"name": "x", "tags": ["a", "b"]}
    return {
        "number": 7, "ratio": 0.5, "price": decimal.Decimal("1.5"), "key": uuid.UUID(int=5),
        "when": dt.datetime(2020, 1, 2, tzinfo=dt.UTC), "colour": Colour.RED, "child": child,
        "children": [child, child], "table": {"a": 1},
    }  # fmt: skip


dumping, loading = Everything(), Everything()
TEXT = dumping.dump(item())
TEXTS = Everything(many=True).dump([item()] * 2)
WRONG = {**TEXT, "no": "x", "children": [{"name": 1}], "extra": 1}


class Packed(Everything):
    class Meta:
        render_module = msgpack


packed = Packed()
BYTES = packed.dumps(item(), default=str)
JSON = json.dumps(TEXTS, default=str)
# More than fits into the first piece of memory, and containers that are written last.
LONG = [{"number": number, "raw": [number], "note": "é" * (number % 3)} for number in range(1_500)]
Long = m.Schema.from_dict(
    {"number": fields.Integer(), "raw": fields.Raw(), "note": fields.String()}
)
rows, lines = Long(many=True), Long()


JOBS = {
    "dump": lambda: dumping.dump(item()),
    "dump many": lambda: dumping.dump([item()] * 2, many=True),
    "load": lambda: loading.load(TEXT),
    "load many": lambda: loading.load(TEXTS, many=True),
    "refuse": lambda: loading.validate(WRONG),
    "refuse in a hook": lambda: loading.validate({**TEXT, "no": -1}),
    "dump with a new schema": lambda: Everything().dump(item()),
    "load with a new schema": lambda: Everything().load(TEXT),
    "dumps": lambda: dumping.dumps(item(), default=str),
    "dumps many": lambda: dumping.dumps([item()] * 2, many=True, default=str),
    "loads": lambda: loading.loads(JSON, many=True),
    "dumps MessagePack": lambda: packed.dumps(item(), default=str),
    "loads MessagePack": lambda: packed.loads(BYTES),
}

if LIBRARY == "plans":
    from althaia import json as own_json
    from althaia.engine import planner
    from althaia.engine.analysis import examine
    from althaia.engine.plan import load_upstream
    from althaia.engine.run import DumpStep

    child = Child()
    # What is there now is not gone through again by each collection in a job.
    gc.collect()
    gc.freeze()

    upstream = load_upstream()

    def make_plans():
        # With the free lists empty, pairs are allocated too: CPython 3.11 crashes where there is
        # no memory for the one in an iterator over items().
        gc.collect()
        plans = planner.build(child), planner.build(child, "load")
        kinds = [[step.label for step in plan.steps] for plan in plans]
        return kinds, examine(upstream, child)[1]

    TREE = {str(number): {"k": [number, {"v": None}], "w": "x"} for number in range(12)}
    # CPython 3.11's own encoder crashes there.
    JOBS["tree"] = lambda: [
        own_json.dumps(TREE, sort_keys=sort_keys) for sort_keys in (False, True)
    ]
    if sys.version_info < (3, 15):
        # CPython 3.15.0 itself crashes where list.append finds no memory, in any program.
        JOBS["make plans"] = make_plans
    JOBS["make steps"] = lambda: [
        repr(type.__call__(DumpStep, None, attr=str(number), key="k", name="n"))
        for number in range(12)
    ]
    # Without them each of the rows allocates, and one round for each allocation takes too long.
    JOBS["dumps a long text"] = lambda: rows.dumps(LONG, ensure_ascii=False)
    JOBS["stream"] = lambda: b"".join(stream(lines, LONG[:200], chunk_bytes=1_000))

for name, work in JOBS.items():
    begin(name)
    report(name, run(work))
