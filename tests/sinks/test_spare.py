"""Memory that a call leaves to the next: enough for everyday texts, and bounded."""

import gc
import sys
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import pytest

from althaia import json, msgpack

KEPT = 2 * 2**20
"""One MB of text, and one of slots."""

FAULTS = """
import resource
import althaia
from althaia.marshmallow import Schema, fields

class Row(Schema):
    number = fields.Integer()
    name = fields.String()
    tags = fields.List(fields.String())

schema = Row(many=True)
rows = [{"number": i, "name": f"name {i}" * 20, "tags": ["a"]} for i in range(2000)]
text = schema.dumps(rows)
assert 400_000 < len(text) < 1_000_000

def faults(call):
    for _ in range(5):
        call()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        call()
    return (resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) / 20

print(faults(lambda: schema.dumps(rows)))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="page faults are counted by getrusage()")
def test_dumps_takes_no_new_pages(program):
    assert float(program(FAULTS)) < 50


def growth(call):
    """By how much the memory grows that is in use before and after a call."""
    call()
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    call()
    gc.collect()
    return tracemalloc.get_traced_memory()[0] - before


def texts(most):
    for power in range(4, most, 3):
        items = [1] * 2**power
        json.loads(json.dumps(items))
        msgpack.loads(msgpack.dumps(items))


def nested(depth):
    return json.dumps(["x" * 50_000, object()], default=lambda value: depth and nested(depth - 1))


def in_threads():
    with ThreadPoolExecutor(8) as pool:
        [*pool.map(texts, [16] * 16)]


@pytest.mark.parametrize(
    "call", [lambda: texts(21), lambda: nested(8), in_threads], ids=["long", "nested", "threads"]
)
def test_what_is_kept_is_bounded(call):
    tracemalloc.start()
    try:
        start = tracemalloc.get_traced_memory()[0]
        assert growth(call) < 200_000
        assert tracemalloc.get_traced_memory()[0] - start < KEPT + 200_000
    finally:
        tracemalloc.stop()
