"""Let each allocation fail, one after the other, dumping, loading and refusing.

``memory LIBRARY`` does it with schemas of several fields, also to and from text; with ``steps``,
with each kind of field alone.
"""

import datetime as dt
import decimal
import enum
import gc
import ipaddress
import json
import sys
import uuid

from althaia import msgpack, stream
from tests.hostile.programs import arguments, begin, library, report
from tests.hostile.programs.allocations import run

LIBRARY, *STEPS = arguments()
m = library(LIBRARY)
fields, validate = m.fields, m.validate


class Colour(enum.Enum):
    RED = 1


MOMENT = dt.datetime(2020, 1, 2, 3, 4, 5, 6, tzinfo=dt.UTC)


def refuse(value):
    raise m.ValidationError("no")


class Inner(m.Schema):
    x = fields.Integer(required=True)


class Hooked(Inner):
    @m.post_dump
    def dumped(self, data, **kwargs):
        return dict(data)

    @m.pre_load
    def loaded(self, data, **kwargs):
        return dict(data)

    @m.validates_schema
    def checked(self, data, **kwargs):
        if data.get("x") == 13:
            raise m.ValidationError({"x": ["unlucky"]})


class Own(fields.Field):
    def _serialize(self, value, attr, obj, **kwargs):
        return [value]

    def _deserialize(self, value, attr, data, **kwargs):
        if value == "bad":
            raise m.ValidationError({"deep": ["no"]}, valid_data=1)
        return [value]


class Computed(fields.Raw):
    @property
    def data_key(self):
        return None

    @data_key.setter
    def data_key(self, value):
        pass


# For each kind of field: the field, what is dumped, what is loaded, what is refused.
KINDS = {
    "Raw": (fields.Raw(validate=refuse), 1, m.missing, [1]),
    "Raw, missing": (fields.Raw(required=True, dump_default=5), m.missing, 1, [m.missing, None]),
    "Raw, default": (fields.Raw(load_default=list, dump_default=list), m.missing, m.missing, []),
    "String": (fields.String(), "x", "x", [5]),
    "String of a number": (fields.String(), 5, "x", [b"\xff"]),
    "Integer": (fields.Integer(), 7, "7", ["z", [], 1e400]),
    "Integer, strict": (fields.Integer(strict=True, as_string=True), 7, 7, [1.5]),
    "Float": (fields.Float(as_string=True), 0.5, "0.5", ["z", [], "nan"]),
    "Decimal": (fields.Decimal(places=2, as_string=True), decimal.Decimal(1), "1", ["z", "nan"]),
    "Boolean": (fields.Boolean(), True, "yes", ["z", []]),
    "DateTime": (fields.DateTime(), MOMENT, MOMENT.isoformat(), ["z", 5]),
    "DateTime, RFC": (fields.DateTime("rfc"), MOMENT, "Thu, 02 Jan 2020 03:04:05 +0000", ["z"]),
    "DateTime, stamp": (fields.DateTime("timestamp"), MOMENT, 5, [-5, "z"]),
    "DateTime, format": (fields.DateTime("%Y"), MOMENT, "2020", ["z"]),
    "NaiveDateTime": (fields.NaiveDateTime(), MOMENT, "2020-01-02T03:04:05", [str(MOMENT), "z"]),
    "AwareDateTime": (fields.AwareDateTime(), MOMENT, str(MOMENT), ["2020-01-02T03:04:05", "z"]),
    "Date": (fields.Date(), MOMENT.date(), "2020-01-02", ["z"]),
    "Time": (fields.Time(), MOMENT.time(), "03:04:05", ["z"]),
    "TimeDelta": (fields.TimeDelta(), dt.timedelta(1), 5, ["z", 1e300]),
    "UUID": (fields.UUID(), uuid.UUID(int=5), str(uuid.UUID(int=5)), ["z", 5]),
    "IP": (fields.IP(), ipaddress.ip_address("10.0.0.1"), "10.0.0.1", ["z"]),
    "IPInterface": (fields.IPInterface(), ipaddress.ip_interface("10.0.0.1/8"), "10.0.0.1", ["z"]),
    "Enum": (fields.Enum(Colour), Colour.RED, "RED", ["z", 5]),
    "Enum, by value": (fields.Enum(Colour, by_value=True), Colour.RED, 1, ["z"]),
    "Email": (fields.Email(), "a@b.co", "a@b.co", ["z", "ü@b"]),
    "URL": (fields.URL(), "http://a.co", "http://a.co", ["z"]),
    "List": (fields.List(fields.Integer()), [1, 2], ["1", 2], ["z", ["z", 1]]),
    "Tuple": (fields.Tuple((fields.Integer(), Own())), (1, 2), [1, 2], ["z", [1], ["z", "bad"]]),
    "Dict": (fields.Dict(), {"a": 1}, {"a": 1}, ["z"]),
    "Dict of fields": (
        fields.Dict(keys=fields.Integer(), values=Own()),
        {1: 2, 3: 4},
        {"1": 2, "3": 4},
        [{"z": "bad"}, {"1": "bad"}],
    ),
    "Method": (fields.Method("give", deserialize="take"), 1, 5, ["bad"]),
    "Function": (
        fields.Function(lambda obj: [obj["f"]], deserialize=lambda value: [int(value)]),
        1,
        "5",
        [],
    ),
    "Constant": (fields.Constant(5), 1, 5, []),
    "Nested": (fields.Nested(Inner), {"x": 1}, {"x": "1"}, ["z", {}, {"x": "z", "y": 1}]),
    "Nested, many": (fields.Nested(Inner(many=True)), [{"x": 1}], [{"x": 1}], [[{}, {"x": "z"}]]),
    "Nested, hooks": (fields.Nested(Hooked), {"x": 1}, {"x": 1}, [{"x": 13}]),
    "Pluck": (fields.Pluck(Inner, "x"), {"x": 1}, "1", ["z"]),
    "Pluck, many": (fields.Pluck(Inner, "x", many=True), [{"x": 1}], ["1"], [["z"]]),
    "own field": (Own(), 1, 1, ["bad"]),
    "own key": (Computed(validate=validate.Equal(5)), 1, 5, [1]),
    "processors": (fields.Raw(pre_load=str, post_load=len), 1, 55, []),
    "path": (fields.Raw(attribute="f.g"), {"g": 1}, 1, []),
    "Length": (fields.Raw(validate=validate.Length(min=2)), 1, "xx", ["x"]),
    "Range": (fields.Raw(validate=validate.Range(min=2)), 1, 2, [1]),
    "OneOf": (fields.Raw(validate=validate.OneOf(["a"])), 1, "a", ["x", []]),
    "NoneOf": (fields.Raw(validate=validate.NoneOf(["a"])), 1, "b", ["a"]),
    "Regexp": (fields.Raw(validate=validate.Regexp("a")), 1, "a", ["x"]),
    "two validators": (fields.Raw(validate=[refuse, validate.Equal(5)]), 1, m.missing, [1]),
}


class Base(m.Schema):
    def give(self, obj):
        return ["given"]

    def take(self, value):
        if value == "bad":
            raise m.ValidationError(["no"])
        return [value]


def steps(kind):
    field, dumped, loaded, refused = KINDS[kind]
    schema = Base.from_dict({"f": field})()

    def filled(value):
        return {} if value is m.missing else {"f": value}

    def refusals():
        return [schema.validate(filled(each)) for each in refused]

    found = {
        f"dump {kind}": lambda: schema.dump(filled(dumped)),
        f"load {kind}": lambda: schema.load(filled(loaded)),
    }
    if refused:
        found[f"refuse {kind}"] = refusals
    return found


if STEPS:
    for each in KINDS:
        for name, job in steps(each).items():
            begin(name)
            for _ in range(5):
                job()
            report(name, run(job))
    report("all", sorted(KINDS))
    sys.exit()

NAMES = {
    "number": "Integer", "ratio": "Float", "price": "Decimal", "when": "DateTime", "key": "UUID",
    "colour": "Enum", "tags": "List", "child": "Nested", "children": "Nested, many",
    "shout": "Method",
}  # fmt: skip


class Everything(Base.from_dict({name: KINDS[kind][0] for name, kind in NAMES.items()})):
    table = fields.Dict(keys=fields.String(), values=fields.Integer())

    @m.post_dump
    def after_dump(self, data, **kwargs):
        data["done"] = True
        return data

    @m.pre_load
    def before_load(self, data, **kwargs):
        return {name: value for name, value in data.items() if name != "done"}

    @m.validates("number")
    def check_number(self, value, **kwargs):
        if value < 0:
            raise m.ValidationError("below zero")


def item():
    return {name: KINDS[kind][1] for name, kind in NAMES.items()} | {"table": {"a": 1}}


dumping, loading = Everything(), Everything()
TEXT = dumping.dump(item())
TEXTS = Everything(many=True).dump([item()] * 2)
WRONG = {**TEXT, "number": "x", "children": [{"x": "z"}], "extra": 1}


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
    "refuse in a hook": lambda: loading.validate({**TEXT, "number": -1}),
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

    child = Inner()
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
