"""The engine is loaded by a user's first schema class, whatever a program has replaced by then."""

from __future__ import annotations

import signal

import pytest

from tests.engine import NEEDS_ENGINE

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


LOADED = """
import sys

import althaia
import marshmallow as ma

def is_loaded():
    return "althaia.engine.door" in sys.modules
"""


@NEEDS_ENGINE
def test_the_first_schema_class_loads_it(patched):
    patched(
        LOADED
        + """
ma.Schema(), ma.fields.Int(), ma.Schema.dump, ma.validate.Email()("a@b.co")
assert not is_loaded() and ma.Schema().dump({}) == {}
rows = ma.Schema.from_dict({"x": ma.fields.Int()})(many=True)
assert is_loaded() and althaia.info().plans == "on"
for _ in range(20):
    rows.dump([{"x": "1"}])
[counted] = althaia.stats().values()
assert counted["dump"]["calls"] > 0, counted
"""
    )


CLASS = """
import sys
import warnings
from unittest import mock

import marshmallow as ma

def made():
    return ma.Schema.from_dict({"x": ma.fields.Int()})

def use(cls):
    rows = cls(many=True)
    for _ in range(20):
        print(rows.dump([{"x": "1"}]), rows.load([{"x": "2"}]), rows.dumps([]), rows.fields)
"""

# From 3.13 on `warnings.warn` imports its own module, and without it no `catch_warnings` records.
REFUSES = """
importing = __import__

def refuse(name, *args, **options):
    if name == "warnings":
        return importing(name, *args, **options)
    raise ImportError(name)
"""

SAYS_WHY = """
import althaia
assert [warning.category for warning in told] == [RuntimeWarning], told
assert "marshmallow's own code runs" in str(told[0].message), told[0]
assert "not be loaded" in althaia.info().plans and althaia.stats() == {}, althaia.info().plans
assert "could not be loaded" in althaia.explain(made()).as_text()
"""


@NEEDS_ENGINE
@pytest.mark.parametrize(
    "fails",
    [
        "mock.patch('builtins.__import__', refuse)",
        "mock.patch.object(sys, 'meta_path', [])",
        "mock.patch.dict(sys.modules, {'althaia.engine.run': None})",
        "mock.patch.dict(sys.modules, {'althaia.engine.planner': None})",
    ],
)
def test_an_engine_that_does_not_load_is_told_once(patched, program, fails):
    """Upstream's code runs from then on, in the class that was being made and in later ones."""
    text = "\n".join(
        [
            CLASS,
            REFUSES,
            "with warnings.catch_warnings(record=True) as told:",
            f"    with {fails}:",
            "        first = made()",
            "        use(first)",
            "    use(first)",
            "    use(made())",
        ]
    )
    assert patched(text + SAYS_WHY) == program(text)


@NEEDS_ENGINE
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timers")
@pytest.mark.parametrize("milliseconds", [0.2, 1, 3, 6, 10, 15])
def test_interrupted_by_a_signal(patched, milliseconds):
    """As by a soft time limit: it ends the class statement, and all that follows works."""
    patched(
        CLASS
        + f"""
import signal

class SoftLimit(Exception):
    pass

def end(*args):
    raise SoftLimit

signal.signal(signal.SIGALRM, end)
signal.setitimer(signal.ITIMER_REAL, {milliseconds} / 1000)
try:
    made()
except SoftLimit:
    pass
signal.setitimer(signal.ITIMER_REAL, 0)
use(made())
import althaia
plans = althaia.info().plans
assert plans == "on" or "SoftLimit" in plans, plans
althaia.explain(made()).as_text()
"""
    )


@NEEDS_ENGINE
@pytest.mark.parametrize("left", [15, 25, 40, 70, 120])
def test_at_the_limit_of_recursion(patched, program, left):
    """The class may not be made; all that follows is as with upstream."""
    text = (
        CLASS
        + f"""
def deep(levels):
    return deep(levels - 1) if levels else made()

warnings.simplefilter("ignore")
sys.setrecursionlimit(400)
depth = len(__import__("inspect").stack())
try:
    deep(400 - depth - {left})
except RecursionError:
    pass
sys.setrecursionlimit(1000)
use(made())
"""
    )
    assert patched(text) == program(text)


@NEEDS_ENGINE
def test_classes_made_in_many_threads(patched):
    patched(
        CLASS
        + """
import threading

import althaia

barrier, seen = threading.Barrier(8), []

def work():
    barrier.wait()
    rows = made()(many=True)
    for _ in range(50):
        assert rows.dump([{"x": "1"}]) == [{"x": 1}]
        assert rows.load([{"x": "1"}]) == [{"x": 1}]
    seen.append(rows)

sys.setswitchinterval(1e-6)
threads = [threading.Thread(target=work) for _ in range(8)]
for each in threads:
    each.start()
for each in threads:
    each.join()
assert len(seen) == 8 and althaia.info().plans == "on"
"""
    )
