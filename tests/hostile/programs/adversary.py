"""Input made to be expensive: seconds and bytes for a size and for twice that size."""

import gc
import tracemalloc
from collections.abc import Callable
from time import process_time

from tests.hostile.programs import arguments, begin, library, report

ROUNDS = 2

LIBRARY, *CHOSEN = arguments()
m = library(LIBRARY)
fields, validate = m.fields, m.validate
Attack = Callable[[int], Callable[[], object]]


def schema(**members):
    return m.Schema.from_dict(members)()


def inner():
    return m.Schema.from_dict({"b": fields.String(required=True)})


def wrong(field, build):
    """An attack by data of a size on a schema with this field; of many objects, if it is a list."""

    def attack(size):
        target, data = schema(a=field()), build(size)
        return lambda: target.validate(data, many=isinstance(data, list))

    return attack


def text(field, build):
    return wrong(field, lambda size: {"a": build(size)})


def keys_of(size):
    return {f"k{number}": 1 for number in range(size)}


def string(*validators):
    return lambda: fields.String(validate=validators)


MANY, LONG, DIGITS = 20_000, 200_000, 4_000
ATTACKS = {
    "objects with an error each": (wrong(fields.Integer, lambda n: [{"a": None}] * n), MANY),
    "unknown keys": (wrong(fields.Integer, keys_of), MANY),
    "list items with an error each": (
        wrong(lambda: fields.List(fields.String()), lambda n: {"a": [1] * n}),
        MANY,
    ),
    "mapping values with an error each": (
        wrong(
            lambda: fields.Dict(keys=fields.String(), values=fields.String()),
            lambda n: {"a": keys_of(n)},
        ),
        MANY,
    ),
    "nested objects with two errors each": (
        wrong(lambda: fields.List(fields.Nested(inner())), lambda n: {"a": [{"c": 1}] * n}),
        MANY // 2,
    ),
    "Length, long text": (text(string(validate.Length(max=5)), "a".__mul__), LONG),
    "OneOf, long text": (text(string(validate.OneOf(["a", "b"])), "a".__mul__), LONG),
    "NoneOf, long text": (text(string(validate.NoneOf(["a", "b"])), "a".__mul__), LONG),
    "Equal, long text": (text(string(validate.Equal("a")), "a".__mul__), LONG),
    "Range, long text": (text(string(validate.Range(min="b")), "a".__mul__), LONG),
    "Regexp, long text": (text(string(validate.Regexp("a*$")), "a".__mul__), LONG),
    "ContainsOnly, long text": (text(string(validate.ContainsOnly("b")), "a".__mul__), LONG),
    "ContainsNoneOf, long text": (text(string(validate.ContainsNoneOf("b")), "a".__mul__), LONG),
    "Email, no at": (text(fields.Email, "a".__mul__), LONG),
    "Email, dots": (text(fields.Email, lambda n: "a." * (n // 2) + "@b.c"), LONG),
    "Email, quoted": (text(fields.Email, lambda n: '"' + "a" * n + "@b.c"), LONG),
    "Email, long domain": (text(fields.Email, lambda n: "a@" + "b-" * (n // 2)), LONG),
    "Url, long host": (text(fields.Url, lambda n: "http://" + "a" * n), LONG),
    "Url, dots": (text(fields.Url, lambda n: "http://" + "a." * (n // 2)), LONG),
    "Url, dashes": (text(fields.Url, lambda n: "http://" + "a-" * (n // 2)), LONG),
    "Url, long path": (text(fields.Url, lambda n: "http://a.bc/" + "/" * n + " "), LONG),
    "Url, user part": (text(fields.Url, lambda n: "http://" + "a:" * (n // 2) + "@"), LONG),
    "Integer, digits": (text(fields.Integer, "9".__mul__), DIGITS),
    "Integer, more digits than allowed": (text(fields.Integer, "9".__mul__), LONG),
    "Float, digits": (text(fields.Float, "9".__mul__), LONG),
    "Decimal, digits": (text(fields.Decimal, "9".__mul__), LONG),
    "Boolean, long text": (text(fields.Boolean, "t".__mul__), LONG),
    "UUID, long text": (text(fields.UUID, "a".__mul__), LONG),
    "DateTime, long text": (text(fields.DateTime, "2".__mul__), LONG),
    "Date, long text": (text(fields.Date, "2".__mul__), LONG),
    "Time, long text": (text(fields.Time, "2".__mul__), LONG),
    "IP, long text": (text(fields.IP, "1.".__mul__), LONG),
    "bytes as text": (text(fields.String, b"\xff".__mul__), LONG),
}


def seconds(job):
    best = 60.0
    for _ in range(ROUNDS):
        gc.collect()
        start = process_time()
        job()
        best = min(best, process_time() - start)
        if best > 0.2:
            break
    return best


def peak(job):
    gc.collect()
    tracemalloc.start()
    job()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


for name, (attack, size) in ATTACKS.items():
    if CHOSEN and name not in CHOSEN:
        continue
    begin(name)
    job, double = attack(size), attack(2 * size)
    job()
    report(
        name,
        {
            "size": size,
            "once": seconds(job),
            "twice": seconds(double),
            "peak": peak(attack(size // 4)),
        },
    )
