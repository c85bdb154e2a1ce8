"""What a program has replaced before its first dump or load counts, as upstream has it."""

from importlib.util import find_spec
from textwrap import dedent

import pytest

# strptime's first call imports `calendar`, which from 3.13 on nothing else does here. Where that
# happens under a mock of `datetime.date`, the names of its days stay mocks and strptime fails for
# good; plans that do without strptime would not.
SCHEMA = """
    import calendar
    import datetime as dt, decimal, enum, json, sys, uuid
    from types import ModuleType, SimpleNamespace
    from unittest import mock
    import marshmallow as ma
    from marshmallow import fields

    class Colour(enum.Enum):
        RED = 1

    FIRST
    class Everything(ma.Schema):
        number = fields.Integer()
        real = fields.Float()
        decimal = fields.Decimal(as_string=True)
        raw = fields.Raw()
        name = fields.Enum(Colour)
        value = fields.Enum(Colour, by_value=True)
        uuid = fields.UUID()
        moment = fields.DateTime()
        rfc = fields.DateTime(format="rfc")
        day_of_format = fields.DateTime(format="%Y/%m/%d")
        stamp = fields.DateTime(format="timestamp")
        naive = fields.NaiveDateTime()
        aware = fields.AwareDateTime()
        day = fields.Date()
        time = fields.Time()
        delta = fields.TimeDelta()

    TEXTS = {
        "number": "1", "real": "1.5", "decimal": "1.50", "raw": 1, "name": "RED", "value": 1,
        "uuid": "12345678-1234-5678-1234-567812345678", "moment": "2020-01-02T03:04:05",
        "rfc": "Thu, 02 Jan 2020 03:04:05 +0000", "day_of_format": "2020/01/02", "stamp": 5,
        "naive": "2020-01-02T03:04:05", "aware": "2020-01-02T03:04:05+00:00",
        "day": "2020-01-02", "time": "10:11:12", "delta": 5,
    }
    VALUES = {
        "number": 1, "real": 1.5, "decimal": decimal.Decimal("1.50"), "name": Colour.RED,
        "value": Colour.RED, "uuid": uuid.UUID(int=5), "moment": dt.datetime(2020, 1, 2),
        "rfc": dt.datetime(2020, 1, 2), "day_of_format": dt.datetime(2020, 1, 2),
        "stamp": dt.datetime(2020, 1, 2), "day": dt.date(2020, 1, 2), "time": dt.time(1, 2),
        "delta": dt.timedelta(1),
    }
    TEXT = '{"number": "1", "decimal": "1.50", "raw": [1.5]}'

    def kinds(value):
        if isinstance(value, dict):
            return {name: kinds(each) for name, each in value.items()}
        shown = "a mock" if isinstance(value, mock.Mock) else str(value)
        return type(value).__module__, type(value).__qualname__, shown

    def attempt(what, *args, **options):
        try:
            print(what.__name__, kinds(what(*args, **options)))
        except Exception as error:
            print(what.__name__, type(error).__name__, error)

    def use():
        schema = Everything()
        for _ in range(3):
            for name in TEXTS:
                attempt(Everything(only=[name]).load, {name: TEXTS[name]})
            for name in VALUES:
                attempt(Everything(only=[name]).dump, VALUES)
            attempt(schema.load, TEXTS)
            attempt(schema.dump, VALUES)
            attempt(schema.loads, TEXT)
            attempt(schema.loads, TEXT.encode())
            attempt(schema.dumps, {"number": 1, "raw": [1.5, "\\xe9"]})
            attempt(schema.dumps, {"raw": {2: {3}, 1: 0}}, indent=None)
            attempt(schema.dumps, [{"raw": 1}], many=True, sort_keys=True)
"""


def the_same(run_both, code, first="", earlier=""):
    """Run a program redirected and not, warnings being errors; return what both print."""
    program = dedent(earlier) + dedent(SCHEMA).replace("FIRST\n", dedent(first)) + dedent(code)
    ours, theirs = run_both("-W", "error", "-c", program)
    assert theirs.returncode == 0, theirs.stderr
    assert (ours.stdout, ours.stderr) == (theirs.stdout, theirs.stderr)
    return ours.stdout


MOCKED = """
    datetime.datetime datetime.date datetime.time datetime.timedelta datetime.timezone uuid.UUID
    enum.Enum enum.EnumMeta decimal.Decimal math.isnan json.dumps json.loads json.JSONEncoder
    json.detect_encoding json._default_encoder json._default_decoder
"""


@pytest.mark.parametrize("name", MOCKED.split())
def test_a_mock(run_both, name):
    printed = the_same(run_both, f"with mock.patch({name!r}, name='theirs'):\n    use()\nuse()\n")
    assert "dump ('builtins', 'dict'" in printed or "dump {'number': ('builtins', 'int'" in printed


FROZEN = """
    class Kind(type):
        def __instancecheck__(cls, value):
            return isinstance(value, cls.__bases__[0])

    class FrozenDatetime(dt.datetime, metaclass=Kind):
        pass

    class FrozenDate(dt.date, metaclass=Kind):
        pass

    frozen = (
        mock.patch("datetime.datetime", FrozenDatetime), mock.patch("datetime.date", FrozenDate)
    )
    for each in frozen:
        each.start()
"""

THAWED = """
    use()
    for each in frozen:
        each.stop()
    use()
"""


@pytest.mark.parametrize("with_a_class", [True, False], ids=["a class before", "none before"])
def test_classes_of_frozen_time(run_both, with_a_class):
    """The first schema class is made before the time is frozen, or by a test within it."""
    first, then = ("", FROZEN) if with_a_class else (FROZEN, "")
    printed = the_same(run_both, dedent(then) + dedent(THAWED), first)
    assert "FrozenDatetime" in printed


@pytest.mark.parametrize(
    "replaced",
    [
        "json.dumps, json.loads = max, min",
        "json.dumps = lambda obj, **options: 'theirs'",
        "json._default_encoder.default = lambda value: 'theirs'",
        "json._default_encoder.ensure_ascii = False",
        "json._default_encoder = json.JSONEncoder(ensure_ascii=False)",
        "json._default_encoder = type('Theirs', (json.JSONEncoder,), {'default': repr})()",
        "json._default_decoder = json.JSONDecoder(parse_float=str)",
        "sys.modules['json'] = ModuleType('json')",
        "sys.modules['json'] = SimpleNamespace(dumps=repr, loads=eval)",
    ],
)
@pytest.mark.parametrize("with_a_class", [True, False], ids=["a class before", "none before"])
def test_json(run_both, replaced, with_a_class):
    then, first = (f"{replaced}\n", "") if with_a_class else ("", f"{replaced}\n")
    the_same(run_both, f"{then}use()\n", first)


@pytest.mark.parametrize("functions", ["dumps=lambda obj, **options: 'theirs'", "dumps=repr"])
def test_json_before_marshmallow(run_both, functions):
    """``sys.modules["json"] = ujson``, say, on a program's first line."""
    earlier = f"""
    import json, sys
    from types import SimpleNamespace
    for name in [name for name in sys.modules if name.startswith("json.")]:
        del sys.modules[name]
    sys.modules["json"] = SimpleNamespace(loads=json.loads, {functions})
    """
    the_same(run_both, "use()\n", earlier=earlier)


@pytest.mark.skipif(
    find_spec("althaia.formats.codec") is None, reason="a pure build has json's own functions"
)
def test_our_json_follows_what_was_replaced(patched):
    """A mock that was there while the engine was loaded is not kept."""
    printed = patched(
        """
    from unittest import mock
    import marshmallow as ma
    with mock.patch("json.dumps", return_value="theirs"):
        S = ma.Schema.from_dict({"a": ma.fields.Integer()})
        from althaia import json
        print(json.dumps({"a": 1}, cls=None))
    print(json.dumps({"a": 1}), json.dumps([1.5], indent=1), S().dumps({"a": 1}))
    """
    )
    assert printed == 'theirs\n{"a": 1} [\n 1.5\n] {"a": 1}\n'
