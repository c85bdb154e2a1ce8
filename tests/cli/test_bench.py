"""``python -m althaia bench``: what it compares and says; how fast is not tested."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from althaia.cli import CommandError
from althaia.cli.worker import read_records
from althaia.trust.differences import written
from tests.unlike import OBJECTS, unlike

MODULE = """\
import enum
import os
import time
import althaia
from marshmallow import Schema, fields, post_load, validate

class Colour(enum.Enum):
    red = 1

class Thing:
    def __init__(self, **attributes):
        vars(self).update(attributes)

class Line(Schema):
    number = fields.Int(required=True, validate=validate.Range(min=3, max=9))
    name = fields.Str(validate=validate.Length(max=4))
    colour = fields.Enum(Colour)
    written = fields.DateTime(dump_only=True)
    inner = fields.Nested("Line")

class Order(Schema):
    id = fields.UUID(data_key="ID")
    price = fields.Decimal(as_string=True)
    city = fields.Str(attribute="customer.city")
    secret = fields.Str(load_only=True, required=True)
    lines = fields.List(fields.Nested(Line))
    totals = fields.Dict(keys=fields.Str(), values=fields.Int())

    @post_load
    def make(self, values, **kwargs):
        return Thing(**values)

class Telling(Schema):
    patched = fields.Function(lambda obj: althaia.is_patched())

class Process(Schema):
    id = fields.Int()
    pid = fields.Function(lambda obj: os.getpid())

class Stamped(Schema):
    id = fields.Int()
    at = fields.Function(lambda obj: time.perf_counter_ns())

class Bounded(Schema):
    share = fields.Float(validate=validate.Range(0, 1))
    open = fields.Float(validate=validate.Range(0, 1, min_inclusive=False, max_inclusive=False))
    small = fields.Int(validate=validate.Range(min=1, max=2, max_inclusive=False))
    low = fields.Int(validate=validate.Range(max=-5))
    price = fields.Decimal(places=2, validate=[validate.Range(min=0), validate.Range(max=3)])
    rank = fields.Int(validate=validate.OneOf([7, 9]))
    two = fields.List(fields.Str(), validate=validate.Length(equal=2))
    none = fields.List(fields.Int(), validate=validate.Length(max=0))
    same = fields.Str(validate=validate.Equal("same"))
    some = fields.List(fields.Str(), validate=validate.ContainsOnly(["a", "b"]))
    letters = fields.Str(validate=validate.ContainsOnly("xy"))

class Coded(Schema):
    code = fields.Str(validate=validate.Regexp("[A-Z]{3}$"))

class Painted(Schema):
    id = fields.Int()
    colour = fields.Enum(Colour)
    at = fields.DateTime(dump_only=True)

things = [Thing(id=1, colour=Colour.red), Thing(id=2)]

def make_things(count):
    return (Thing(id=i, colour=Colour.red) for i in range(count))

some = [{"a": 1}, {"a": None}, {"a": 3}]

class Doubled(Schema):
    a = fields.Function(lambda obj: obj["a"] * 2)

def choose(obj):
    if obj["a"] is None and althaia.is_patched():
        raise ValueError
    return obj["a"]

class Choosy(Schema):
    a = fields.Function(choose)
"""


@pytest.fixture
def bench(run, tmp_path):
    (tmp_path / "shop.py").write_text(MODULE)
    return lambda *words: run("-m", "althaia", "bench", "--rounds", "1", "--objects", "3", *words)


def report(done):
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


def test_objects_are_made_from_the_fields_and_load_again(bench):
    rows = report(bench("shop:Order", "--json"))["rows"]
    works = [f"{way} {count}" for way in ("dump", "load") for count in ("1 object", "3 objects")]
    assert [row["work"] for row in rows] == works
    for row in rows:
        assert row["identical"] is True
        assert row["marshmallow"] > 0
        assert row["low"] <= row["ratio"] <= row["high"]


def test_a_difference_is_said_and_not_timed(bench):
    done = bench("shop:Telling", "--dump", "--json")
    assert done.returncode == 1
    for row in report(done)["rows"]:
        assert row["identical"] is False
        assert row["ratio"] is None
        assert row["deterministic"] is True
        assert row["difference"].startswith(("patched: ", "[0].patched: "))
    shown = bench("shop:Telling", "--dump")
    assert shown.returncode == 1
    assert "DIFFERENT" in shown.stdout
    assert "dump 1 object: patched: True by althaia, False by" in " ".join(shown.stdout.split())


def test_made_values_that_do_not_load_are_left_out(bench):
    shown = bench("shop:Coded")
    assert shown.returncode == 0, shown.stderr
    assert "3 left out, because alone they fail: load: ValidationError: {'code': [" in shown.stdout
    assert "no database, framework or JSON around them" in " ".join(shown.stdout.split())
    assert "with --data FILE, or objects with --source MODULE:NAME." in shown.stdout
    assert "load 1 object" not in shown.stdout


def test_ctrl_c_ends_without_a_traceback(tmp_path):
    (tmp_path / "slow.py").write_text(
        "import time\nfrom marshmallow import Schema\nopen('begun', 'w').close()\ntime.sleep(60)\n"
    )
    for command in (["bench", "slow:S"], ["compare", "slow:S", "--objects", "slow:x"]):
        process = subprocess.Popen(
            [sys.executable, "-m", "althaia", *command],
            cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True,
            # A shell that runs the tests in the background has told them to ignore it.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )  # fmt: skip
        while not (tmp_path / "begun").exists():
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGINT)
        said = process.communicate(timeout=60)[1]
        assert process.returncode == 130
        assert said == f"python -m althaia {command[0]}: ended by SIGINT\n"
        (tmp_path / "begun").unlink()


MEASURED = {
    "Line --load --data lines.ndjson": ("load", 2, 1, "3 records of lines.ndjson"),
    "Line --dump --data line.json": ("dump", 1, 0, "1 records of line.json, loaded to dict"),
    "Bounded --load --objects 50": (
        "load",
        50,
        0,
        "50 plain objects (types.SimpleNamespace)",
    ),
    "Painted --dump --source shop:things": ("dump", 2, 0, "2 shop.Thing of shop:things"),
    "Painted --dump --source shop:make_things": ("dump", 3, 0, "3 shop.Thing of"),
    "Doubled --dump --source shop:some": ("dump", 2, 1, "3 dict of shop:some"),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "way", "count", "failing", "data"), [(w, *m) for w, m in MEASURED.items()]
)
def test_what_is_measured(bench, tmp_path, words, way, count, failing, data):
    (tmp_path / "lines.ndjson").write_text(
        '{"number": 4, "name": "a"}\n\n{"number": 99}\n{"number": 5}\n'
    )
    (tmp_path / "line.json").write_text('{"number": 4}')
    shown = report(bench(*f"shop:{words}".split(), "--json"))
    many = [f"{way} {count} objects"] if count > 1 else []
    assert [row["work"] for row in shown["rows"]] == [f"{way} 1 object", *many]
    assert all(row["identical"] for row in shown["rows"])
    assert shown["failing"] == failing
    assert data in shown["data"]
    said = {"Line": "Must be greater than or equal to 3", "Doubled": "dump: TypeError"}
    assert said.get(words.split()[0], "") in shown["failure"] if failing else not shown["failure"]


@unlike(*OBJECTS)
def test_values_of_different_types_or_order_are_described_differently(one, other):
    assert written(one) != written(other)
    assert json.dumps(written(one))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Stamped", "Process"])
def test_what_is_not_deterministic_is_no_difference(bench, name):
    done = bench(f"shop:{name}", "--dump")
    assert done.returncode == 0
    shown = " ".join(done.stdout.split())
    assert re.search(r"dump 1 object: \w+: not deterministic, marshmallow gave ", shown)
    assert "not deterministic dump" in shown
    assert "DIFFERENT" not in shown
    assert "please report" not in shown


@pytest.mark.slow
def test_what_fails_with_one_library_only_is_a_difference(bench):
    done = bench("shop:Choosy", "--source", "shop:some", "--dump", "--json")
    assert done.returncode == 1
    assert report(done)["rows"][-1]["difference"].startswith(
        "dump[1]: 'dump: ValueError:' by althaia, (missing) by marshmallow"
    )


def test_data_files(tmp_path):
    def read(name, text):
        (tmp_path / name).write_text(text, "utf-8")
        return read_records(tmp_path / name)

    assert read("a.json", "[1, 2]") == [1, 2]
    assert read("a.json", '{"a": 1}') == [{"a": 1}]
    assert read("a.jsonl", "1\n\n2\n") == [1, 2]
    assert read("a.jsonl", '"\u2028\x85"\n2') == ["\u2028\x85", 2]
    wrong = ("a.jsonl", "1\nx\n", "line 2"), ("a.json", "1\n2", "jsonl"), ("a.json", "[]", "no rec")
    for name, text, said in wrong:
        with pytest.raises(CommandError, match=said):
            read(name, text)


def test_a_worker_whose_command_was_killed_says_nothing():
    reader, writer = os.pipe()
    os.close(reader)
    words = [sys.executable, "-m", "althaia.cli.worker"]
    done = subprocess.run(words, input=b'{"do": "start"}\n', stdout=writer, stderr=-1, check=False)
    os.close(writer)
    assert done.stderr == b""
