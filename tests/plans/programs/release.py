"""Runs in a process of its own: the installed release, compared with ours made from it."""

import datetime as dt
import enum
import importlib.metadata
import sys
from pathlib import Path

import marshmallow as real

from althaia import marshmallow as ours, seam
from althaia.engine import instances, planner
from tests.plans.programs import compare, outcome

instances.build_at_once(True)
seam.load_engine()


class Colour(enum.Enum):
    RED = 1


def schemas(ma):
    """Schemas that touch every fact in which releases differ."""
    fields, validate = ma.fields, ma.validate

    class Inner(ma.Schema):
        a = fields.Integer(required=True, data_key="A")
        empty = fields.Integer(data_key="")

    class Broad(ma.Schema):
        name = fields.String(
            required=True, validate=[validate.Length(max=3), validate.OneOf(["x"])]
        )
        url = fields.Url()
        email = fields.Email()
        moment = fields.DateTime()
        span = fields.TimeDelta()
        stamp = fields.DateTime(format="timestamp")
        stamp_ms = fields.DateTime(format="timestamp_ms")
        colour = getattr(fields, "Enum", lambda of: fields.String())(Colour)
        pair = fields.Tuple((fields.Integer(), fields.Integer()))
        inner = fields.Nested(Inner, data_key="INNER")
        deep = fields.String(attribute="p.q")
        items = fields.List(fields.Nested(Inner))
        pluck = fields.Pluck(Inner, "a")
        nothing = fields.Pluck(Inner, "empty")
        copied = fields.Nested(lambda: Inner(many=True))
        single = fields.Nested(Inner(many=True), many=False)
        constant = fields.Constant(None)
        table = fields.Dict(fields.String(), fields.Integer())
        checked = fields.Integer(validate=lambda value: False)

        @ma.validates_schema
        def always(self, data, **kwargs):
            if data.get("name") == "no":
                raise ma.ValidationError({"name": ["not this one"], "inner": MESSAGES})

    return {"Inner": Inner, "Broad": Broad}


MESSAGES = {"a": ["shared"]}
NAN = float("nan")
LOADED = [
    {"name": "x", "p": {"q": 1}},
    {"name": "no"},
    {"name": 3, "url": "http://a.example#top", "email": "a@b.example"},
    {"url": "http://a.example/#top"},
    {"url": "http://exämple.de", "email": "a@exämple.de"},
    {"url": "file:///x", "email": "a@xn--exmple-cua.de"},
    {"span": NAN},
    {"span": "3", "moment": "2024-01-02T03:04:05+00:00", "stamp": 1, "stamp_ms": True},
    {"colour": "RED"},
    {"colour": "mro"},
    {"colour": Colour.RED},
    {"pair": [1, 2]},
    {"pair": [1, 2, 3]},
    {"pair": ["x", "y"]},
    {"INNER": {}},
    {"INNER": {"A": "x", "B": 1}, "items": [{"A": 1}, {"A": "x"}, 3]},
    {"pluck": 3, "nothing": 4, "constant": None},
    {"copied": [{"A": 1}], "single": [{"A": 1}]},
    {"copied": {"A": 1}, "single": {"A": 1}},
    {"table": {"a": "x", "b": 1}, "checked": 1},
]
DUMPED = [
    {"name": "x", "p": {"q": 5}, "p.q": 6, "pair": (1, 2), "table": {"a": 1}},
    {"pair": (1,), "colour": Colour.RED, "span": dt.timedelta(days=1, seconds=0.5)},
    {"inner": {"a": 1}, "items": [{"a": 2}], "pluck": {"a": 3}, "nothing": {"empty": 4}},
    {"copied": [{"a": 1}], "single": [{"a": 1}]},
    {"single": {"a": 1}},
    {
        "moment": dt.datetime(2024, 1, 2),
        "stamp": dt.datetime(2024, 1, 2),
        "stamp_ms": dt.datetime(2024, 1, 2, tzinfo=dt.UTC),
    },
]
PARTIAL = [None, True, ("name", "inner.a", "INNER.a", "INNER.A"), ("name", "inner.a"), ("INNER.a",)]


LEFT = {"stamp", "stamp_ms", "checked"}
"""Loaded by the field's own method in all releases; the last is validated by it in some."""


def answers(ma):
    """What a library says to all of the input, with messages that user code shares."""
    found = []
    for cls in schemas(ma).values():
        for schema in (cls(), cls(unknown="include")):
            for partial in PARTIAL:
                for each in LOADED:
                    found.append(outcome(schema.load, each, partial=partial))
            found.append(outcome(schema.load, LOADED, many=True))
            found.append(outcome(schema.loads, '[{"name": "x", "INNER": {"A": 1}}]', many=True))
            found += [outcome(schema.dump, each) for each in DUMPED]
            found.append(outcome(schema.dumps, DUMPED[:1], many=True))
    found.append(repr(MESSAGES))
    return found


def compare_answers():
    compare(answers(real), answers(ours))


def compare_plans():
    """Nothing is left to a field's own method but what is everywhere."""
    for cls in schemas(ours).values():
        for direction in ("dump", "load"):
            plan = planner.build(cls(), direction)
            assert not plan.declined, plan.declined
            assert plan.whole
            left = {step.attr for step in plan.steps if step.why}
            assert left <= LEFT, {step.attr: step.why for step in plan.steps}


def main():
    version = importlib.metadata.version("marshmallow")
    assert Path(real.__file__) == Path(ours.__file__), (real.__file__, ours.__file__)
    assert real is not ours
    {"planned": compare_plans, "answers": compare_answers}[sys.argv[1]]()
    print(f"{version}: {sys.argv[1]}")


if __name__ == "__main__":
    main()
