"""Kinds of fields that release 4 has changed, before it: the real marshmallow beside ours."""

import datetime as dt
import inspect
import random
import warnings
from functools import cache, partial

import marshmallow as real
import wrapt

from althaia import marshmallow as ours
from althaia.engine import instances, planner
from tests.plans.programs import compare, outcome

TEXTS = [
    "2024-05-06T07:08:09.123456+00:00", "2024-5-6 7:8Z", "2024-05-06T07:08:09.1234567890123",
    "2024-05-06T07:08:09-0530", "2024-05-06T07:08:09+05", "2024-05-06T07:08:09+05:99",
    "2024-05-06T07:08:09-00:00", "2024-05-06T07:08:09+24:00", "2024-02-29T24:00:60", "2024-02-30",
    "0000-01-01", "2024-05-06\n", "\u0662\u0660\u0662\u0664-05-06", "7:8", "07:08:09.5 and more",
    "07:08:x", "Mon, 06 May 2024 07:08:09 -0530",
]  # fmt: skip
SIGNS = "0123456789:-+.TZ \n\u0663"


def texts(count):
    """The texts, and as many changed ones as asked for."""
    chance = random.Random(26)
    found = list(TEXTS)
    while len(found) < count:
        text = chance.choice(TEXTS)
        for _ in range(chance.choice((1, 1, 2, 3))):
            at = chance.randrange(len(text) + 1)
            text = text[:at] + chance.choice(("", *SIGNS)) + text[at + chance.choice((0, 1)) :]
        found.append(text)
    return found


UNITS = ("days", "seconds", "microseconds", "milliseconds", "minutes", "hours", "weeks")
SPANS = [
    dt.timedelta(days=days, seconds=seconds, microseconds=microseconds)
    for days in (0, 1, -1, 7, -400_000, 999_999_999)
    for seconds in (0, 1, 86_399)
    for microseconds in (0, 1, 999_999)
]
NUMBERS = [0, 1, -1, 1.5, -1.5, True, "3", "1.5", "x", 10**12, 10**30, None, [], float("nan")]
OBJECTS = [{"a": 1}, None, 5]


def one(value):
    return ["one", value]


class One:
    def __call__(self, value):
        return one(value)


class Computed(One):
    def __getattr__(self, name):
        raise AttributeError(name)


def two(value, context):
    return ["two", value, sorted(context)]


class Pair(list):
    def __init__(self, value, context):
        super().__init__([value, sorted(context)])


def by_default(value, known=3):
    return ["default", value, known]


class Two:
    def __call__(self, value, context):
        return two(value, context)

    def method(self, value, context):
        return two(value, context)


FUNCTIONS = {
    "one": one,
    "two": two,
    "by_default": by_default,
    "star": lambda *values: len(values),
    "partial": partial(one),
    "method": Two().method,
    "length": len,
    "object": One(),
    "object_of_two": Two(),
    "plain_class": Pair,
    "wrapped": wrapt.decorator(lambda wrapped, instance, args, kwargs: wrapped(*args))(one),
    "cached": cache(lambda value: len(str(value))),
}
LEFT = {"computed": Computed(), "class_": str}
"""Upstream looks at their signature in each call, which may run code of the user's."""


def schemas(ma):
    span = ma.fields.TimeDelta
    # Before 3.17 the numbers are whole.
    types = (
        [(int,), (float,)] if "serialization_type" in inspect.signature(span).parameters else [()]
    )
    spans = {
        f"{unit}_{'_'.join([made.__name__ for made in types_])}": span(unit, *types_)
        for unit in UNITS
        for types_ in types
    }
    functions = {
        name: ma.fields.Function(function, function)
        for name, function in {**FUNCTIONS, **LEFT}.items()
    }
    functions["within"] = ma.fields.List(ma.fields.Function(two, two))
    dates = {
        "moment": ma.fields.DateTime(),
        "date": ma.fields.Date(),
        "time": ma.fields.Time(format="iso8601"),
        "naive": ma.fields.NaiveDateTime(),
        "moved": ma.fields.NaiveDateTime(timezone=dt.timezone(dt.timedelta(hours=3))),
        "aware": ma.fields.AwareDateTime(),
        "given": ma.fields.AwareDateTime(default_timezone=dt.UTC),
        "rfc": ma.fields.DateTime(format="rfc"),
    }
    return [ma.Schema.from_dict(each) for each in (spans, functions, dates)]


def answers(ma):
    spans, functions, dates = schemas(ma)
    found = []
    for text in [*texts(1_500), None, 5, b"2024-05-06", dt.date(2024, 5, 6)]:
        found += [outcome(dates(only=(name,)).load, {name: text}) for name in dates().fields]
    for name in spans().fields:
        found += [outcome(spans().dump, {name: each}) for each in (*SPANS, 5, "x", None)]
        found += [outcome(spans().dumps, {name: each}) for each in SPANS]
        found += [outcome(spans().load, {name: each}) for each in NUMBERS]
    for context in ({}, {"user": 1}):
        for name in functions().fields:
            schema = functions(context=context, only=(name,))
            found += [outcome(schema.dump, each) for each in OBJECTS]
            found += [outcome(schema.load, {name: each}) for each in (1, "x", [2])]
            schema.context = None
            found += [outcome(schema.dump, {"within": [1]}), outcome(schema.load, {name: "x"})]
    return found


def main():
    warnings.simplefilter("ignore")
    instances.build_at_once(True)
    compare(answers(real), answers(ours))
    for cls in schemas(ours):
        for direction in ("dump", "load"):
            own = {step.attr for step in planner.build(cls(), direction).steps if not step.narrow}
            own = {name for name in own if not name.endswith("_float")}
            assert own <= LEFT.keys(), own
    print("kinds_of_3")


if __name__ == "__main__":
    main()
