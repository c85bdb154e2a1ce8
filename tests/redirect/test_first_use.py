"""The first schema class loads the engine, whatever is mocked, broken or interrupted then."""

import signal

import pytest

from tests.engine import NEEDS_ENGINE

# What the programs here begin with.
BEGIN = """
import copy, json, signal, sys, textwrap, threading, warnings
from unittest import mock

import marshmallow as ma
from marshmallow import fields, validate

def tried(function, *args):
    try:
        return function(*args)
    except Exception as error:
        return type(error), str(error)

def made():
    return ma.Schema.from_dict({"x": ma.fields.Int()})

def use_class(cls):
    rows = cls(many=True)
    for _ in range(20):
        print(rows.dump([{"x": "1"}]), rows.load([{"x": "2"}]), rows.dumps([]), rows.fields)
"""


@pytest.fixture
def the_same(patched, program):
    """Runs a program of several parts redirected and not; the same must be printed."""

    def check(*parts):
        text = "\n".join((BEGIN, *parts))
        assert patched(text) == program(text)

    return check


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


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("replaced", REPLACED)
def test_a_replaced_class(the_same, replaced, when):
    replacing = f"exec(textwrap.dedent({REPLACED[replaced]!r}))"
    the_same(USE, "" if when == "before" else "use()", replacing, "use()")


HELPERS = """
    utils.is_collection utils.is_sequence_but_not_string utils.set_value
    error_store.copy_containers error_store.ErrorStore
    schema.ErrorStore schema.ValidationError schema.missing schema.Schema
"""


@pytest.mark.parametrize("name", HELPERS.split())
def test_a_helper_that_a_test_replaces_for_a_while(the_same, name):
    within = "    print(*tried(lambda: (made()().dump({}), ())[1])[:1])"
    the_same(USE, f"with mock.patch('marshmallow.{name}'):", within, "use()")


@NEEDS_ENGINE
def test_the_first_schema_class_loads_it(patched):
    patched(
        """
        import sys
        import althaia
        import marshmallow as ma

        def is_loaded():
            return "althaia.engine.door" in sys.modules

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
assert "not be loaded" in althaia.info().as_text()
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
        "mock.patch('althaia.engine.plan.load_upstream', side_effect=KeyError)",
    ],
)
def test_an_engine_that_does_not_load_is_told_once(patched, program, fails):
    """Upstream's code runs from then on, in the class that was being made and in later ones."""
    text = f"""{BEGIN}{REFUSES}
with warnings.catch_warnings(record=True) as told:
    with {fails}:
        first = made()
        use_class(first)
    use_class(first)
    use_class(made())
"""
    assert patched(text + SAYS_WHY) == program(text)


@NEEDS_ENGINE
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timers")
@pytest.mark.parametrize("milliseconds", [0.2, 1, 3, 6, 10, 15])
def test_interrupted_by_a_signal(patched, milliseconds):
    """As by a soft time limit: it ends the class statement, and all that follows works."""
    patched(
        BEGIN
        + f"""
class SoftLimit(Exception):
    pass

def end(*args):
    raise SoftLimit

signal.signal(signal.SIGALRM, end)
try:
    signal.setitimer(signal.ITIMER_REAL, {milliseconds} / 1000)
    made()
    signal.setitimer(signal.ITIMER_REAL, 0)
except SoftLimit:
    pass
use_class(made())
import althaia
plans = althaia.info().plans
assert plans == "on" or "SoftLimit" in plans, plans
althaia.explain(made()).as_text()
"""
    )


CONNECTOR = """
from althaia import seam
class Interrupted(list):
    def pop(self):
        super().pop()
        raise KeyboardInterrupt
seam._connectors = Interrupted(seam._connectors)
"""
LOADING = """
mock.patch("althaia.engine.plan.load_upstream", side_effect=KeyboardInterrupt).start()
"""


@NEEDS_ENGINE
@pytest.mark.parametrize("interrupting", [CONNECTOR, LOADING], ids=["connector", "loading"])
def test_interrupted_by_the_keyboard(patched, interrupting):
    patched(f"""{BEGIN}{interrupting}
try:
    made()
except KeyboardInterrupt:
    use_class(made())
use_class(made())
assert "could not be loaded: KeyboardInterrupt" in althaia.info().plans, althaia.info().plans
assert "could not be loaded: KeyboardInterrupt" in althaia.explain(made()).as_text()
""")


@NEEDS_ENGINE
@pytest.mark.parametrize("left", [15, 25, 40, 70, 120])
def test_at_the_limit_of_recursion(the_same, left):
    """The class may not be made; all that follows is as with upstream."""
    the_same(f"""
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
use_class(made())
""")


COPIED = """
class Child(ma.Schema):
    x = ma.fields.Int()

class Parent(ma.Schema):
    a = ma.fields.Int()
    n = ma.fields.Nested(Child())
    e = ma.fields.Email(error_messages={{"invalid": "{{foo}} is no address"}})

first, real = Parent(), {name}
ma.validate.Email()("a@b.co")

with mock.patch("{name}"{how}) as mocked:
    for _ in range(3):
        print(tried(first.dump, {{"a": 1}}), tried(first.load, {{"e": "a@b.co"}}))
    if {made}:
        for _ in range(5):
            second = tried(Parent)
            print(tried(lambda: second.fields["a"] is Parent._declared_fields["a"]))
    print(len(mocked.mock_calls))
for _ in range(12):
    copied = copy.deepcopy(first)
    print(copied.dump({{"a": 1, "n": {{"x": 2}}}}), sorted(copy.deepcopy(vars(first))))
    print(tried(copied.load, {{"e": "a@b.co"}}), first.dump({{"a": 1}}))
"""


@pytest.mark.parametrize("how", ["", ", wraps=real", ", side_effect=lambda x, memo=None: x"])
@pytest.mark.parametrize("name", ["copy.deepcopy", "copy.copy"])
def test_a_mock_of_copying(the_same, name, how):
    the_same(COPIED.format(name=name, how=how, made=bool(how)))


ADDRESSES = """
class Row(ma.Schema):
    e = ma.fields.Email()

with mock.patch({how}):
    print(tried(lambda: Row().load({{"e": "a@b.co"}})))
for address in ("a@b.co", "not an address@@", "a@b"):
    print(tried(lambda: Row().load({{"e": address}})))
"""
FIRST_CLASS = """
with mock.patch({how}) as mocked:
    first = made()
    print(made()().fields, mocked.mock_calls)
print(first().load({{"x": "1"}}))
"""
READERS = """
import sqlalchemy as sa
from sqlalchemy import orm

class Order(orm.declarative_base()):
    __tablename__ = "order"
    x = sa.Column(sa.Integer, primary_key=True)

row = made()(many=True)
for _ in range(10):
    row.dump([{{"x": 1}}])
with mock.patch({how}, side_effect=ImportError):
    print(row.dump([Order(x=1), Order(x=2)]))
print(row.dump([Order(x=1), Order(x=2)]))
"""
MOCKED = [
    (ADDRESSES, "'re.compile'"),
    (ADDRESSES, "'builtins.__import__', side_effect=ImportError"),
    (FIRST_CLASS, "'json.loads'"),
    (FIRST_CLASS, "'json.decoder.JSONDecoder'"),
    (FIRST_CLASS, "'builtins.open'"),
    (READERS, "'builtins.__import__'"),
    (READERS, "'importlib.import_module'"),
]
"""What is used while a mock stands where expressions are compiled, the first class is made, and
the readers of a library are loaded."""


@pytest.mark.parametrize(("text", "how"), MOCKED)
def test_a_mock_of_what_is_used_at_first(the_same, text, how):
    the_same(text.format(how=how))
