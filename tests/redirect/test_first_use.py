"""The engine is loaded by the first dump or load, whatever a program has replaced by then."""

from __future__ import annotations

import signal
from importlib.util import find_spec

import pytest

from tests.interpreters import lazily

NEEDS_ENGINE = pytest.mark.skipif(
    find_spec("althaia.engine.door") is None, reason="a pure build has no engine"
)

REPLACED = {
    "a field": """
        class Stripped(fields.String):
            def _deserialize(self, value, attr, data, **options):
                return super()._deserialize(value, attr, data, **options).strip()

        fields.String = fields.Str = Stripped
        """,
    "all fields": """
        for name in set(fields.__all__) - {"Field"}:
            setattr(fields, name, type(name, (getattr(fields, name),), {}))
        """,
    "a validator": """
        class Length(validate.Length):
            message_min = "too short"

        validate.Length = Length
        """,
    "all validators": """
        for name, cls in list(vars(validate).items()):
            if isinstance(cls, type) and issubclass(cls, validate.Validator):
                setattr(validate, name, type(name, (cls,), {}))
        """,
    "the schema": """
        class Schema(ma.Schema):
            pass

        ma.Schema = ma.schema.Schema = Schema
        """,
    "the set of names": """
        ma.schema.OrderedSet = type("OrderedSet", (ma.orderedset.OrderedSet,), {})
        """,
}

USE = """
def use():
    class User(ma.Schema):
        a = fields.Str(validate=validate.Length(min=2))
        n = fields.Nested({"x": fields.Int()}, only=("x",))
        p = fields.Int(attribute="q.r", validate=validate.Range(max=5))
        l = fields.List(fields.Pluck({"x": fields.Decimal()}, "x"))

    nested, wrong = {"n": {"x": "1"}, "p": 1}, {"l": ["1.5"], "p": 9}
    for data in ({"a": " xy "}, {"a": "x"}, nested, {"n": 5}, wrong):
        for _ in range(3):
            print(User().dump(data | {"l": [{"x": 1}]}))
            try:
                print(User().load(data))
            except ma.ValidationError as error:
                print(error.messages, error.valid_data)
"""

BEGIN = """
import textwrap

import marshmallow as ma
from marshmallow import fields, validate
"""


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("replaced", REPLACED)
def test_a_replaced_class(patched, program, replaced, when):
    replacing = f"exec(textwrap.dedent({REPLACED[replaced]!r}))"
    first = "" if when == "before" else "use()"
    text = "\n".join([BEGIN, USE, first, replacing, "use()"])
    assert patched(text) == program(text)


@pytest.mark.parametrize(
    "name",
    [
        "utils.is_collection",
        "utils.is_sequence_but_not_string",
        "utils.set_value",
        "error_store.copy_containers",
        "error_store.ErrorStore",
        "schema.ErrorStore",
        "schema.ValidationError",
        "schema.missing",
        "schema.Schema",
    ],
)
def test_a_helper_that_a_test_replaces_for_a_while(patched, program, name):
    text = "\n".join(
        [
            BEGIN,
            USE,
            "from unittest import mock",
            f"with mock.patch('marshmallow.{name}'):",
            "    try:",
            "        ma.Schema.from_dict({'x': fields.Int()})().dump({})",
            "    except Exception as error:",
            "        print(type(error))",
            "use()",
        ]
    )
    assert patched(text) == program(text)


IMPORTS_FAIL = """
import sys
from unittest import mock

import marshmallow as ma

rows = ma.Schema.from_dict({"x": ma.fields.Int()})(many=True)
"""


NOW_PLANNED = """
import althaia, time
for _ in range(100):
    # The engine may be on its way.
    time.sleep(0.005)
    rows.dump([{"x": "1"}])
[counted] = althaia.stats().values()
assert counted["dump"]["calls"] > 0 and althaia.info().plans == "on", counted
"""


@NEEDS_ENGINE
@pytest.mark.parametrize(
    "made",
    [
        "mock.patch('builtins.__import__', side_effect=ImportError)",
        "mock.patch('importlib.import_module', side_effect=ImportError)",
        "mock.patch.object(sys, 'meta_path', [])",
        "mock.patch.object(sys, 'path', [])",
    ],
)
def test_while_nothing_can_be_imported(patched, program, made):
    text = "\n".join(
        [
            IMPORTS_FAIL,
            f"with {made} as mocked:",
            "    for _ in range(5):",
            "        print(rows.dump([{'x': '1'}]), rows.load([{'x': '2'}]))",
            "    print(mocked.mock_calls if 'import_module' in str(mocked) else '')",
            "print(rows.dump([{'x': '3'}]))",
        ]
    )
    assert patched(text + NOW_PLANNED) == program(text)


@NEEDS_ENGINE
@lazily
def test_an_engine_that_never_loads_is_told_once(patched, program):
    text = "\n".join(
        [
            IMPORTS_FAIL,
            "import warnings",
            "with mock.patch.dict(sys.modules, {'althaia.engine.run.dump': None}):",
            "    with warnings.catch_warnings(record=True) as told:",
            "        for _ in range(1_200):",
            "            assert rows.dump([{'x': '1'}]) == [{'x': 1}]",
        ]
    )
    told = """
import althaia
assert [warning.category for warning in told] == [RuntimeWarning], told
assert "althaia.engine.run.dump" in str(told[0].message) and told[0].filename == "<string>", told[0]
assert "althaia.engine.run.dump" in althaia.info().plans
"""
    assert patched(text + told) == program(text)


@NEEDS_ENGINE
@lazily
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timers")
def test_interrupted_by_a_signal(patched):
    """As by a soft time limit: the call is, what it loads is not."""
    patched(
        IMPORTS_FAIL
        + """
import signal

class SoftLimit(Exception):
    pass

def end(*args):
    raise SoftLimit

signal.signal(signal.SIGALRM, end)
interrupted = 0
for _ in range(200):
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.001)
        rows.dump([{"x": 1}])
        signal.setitimer(signal.ITIMER_REAL, 0)
    except SoftLimit:
        interrupted += 1
assert interrupted, "loading took less than a millisecond"
for _ in range(50):
    assert rows.dump([{"x": "1"}]) == [{"x": 1}]
"""
        + NOW_PLANNED
    )


def test_at_the_limit_of_recursion(patched, program):
    text = (
        IMPORTS_FAIL
        + """
def deep(levels):
    return deep(levels - 1) if levels else rows.dump([{"x": "1"}])

sys.setrecursionlimit(400)
depth = len(__import__("inspect").stack())
print(deep(400 - depth - 40))
"""
    )
    assert patched(text) == program(text)


def test_with_small_stacks(patched, program):
    text = (
        IMPORTS_FAIL
        + """
import threading

try:
    threading.stack_size(64 * 1024)
except ValueError:
    # A debug build asks for more.
    threading.stack_size(128 * 1024)
for _ in range(5):
    print(rows.dump([{"x": "1"}]))
print(threading.stack_size())
"""
    )
    assert patched(text) == program(text)


@NEEDS_ENGINE
def test_explained_while_another_thread_loads_it(patched):
    patched(
        IMPORTS_FAIL
        + """
import threading
import althaia

barrier, seen = threading.Barrier(8), []

def use(number):
    barrier.wait()
    if number % 2:
        rows.dump([{"x": 1}])
    seen.append(althaia.explain(rows).summary())

sys.setswitchinterval(1e-6)
threads = [threading.Thread(target=use, args=(number,)) for number in range(8)]
for each in threads:
    each.start()
for each in threads:
    each.join()
assert len(seen) == 8 and len(set(seen)) == 1 and "1 of 1" in seen[0], seen
"""
    )


@NEEDS_ENGINE
@lazily
def test_explained_without_it(patched):
    patched(
        IMPORTS_FAIL
        + """
import althaia

with mock.patch.dict(sys.modules, {"althaia.engine.run.dump": None}):
    explained = althaia.explain(rows)
    assert "could not be loaded" in explained.as_text(), explained.as_text()
    assert rows.dump([{"x": "1"}]) == [{"x": 1}]
"""
    )
