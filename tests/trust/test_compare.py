"""Compare mode finds a wrong answer, and says nothing where there is none."""

import io
import json
import logging
import os
import random
import threading
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest

import althaia
from althaia import seam
from althaia.marshmallow import (
    Schema,
    ValidationError,
    fields,
    post_dump,
    post_load,
    pre_dump,
    pre_load,
)
from althaia.trust import compare, notes
from tests.redirect import processes
from tests.trust import planted


class Line(Schema):
    price = fields.Float()


class Order(Schema):
    number = fields.Int(required=True)
    lines = fields.List(fields.Nested(Line))


ROWS = [{"number": n, "lines": [{"price": n * 1.5}, {"price": 2.0}]} for n in range(5)]
TEXT = '[{"number": 1, "lines": [{"price": 1.5}]}, {"number": 2}]'


def spoil(price):
    def wrong(result):
        result[3]["lines"][1]["price"] = price
        return result

    return wrong


@pytest.fixture(autouse=True)
def _needs_plans():
    if althaia.explain(Order).as_dict()["no_plans"]:
        pytest.skip("no plans run in this build")


def counts():
    report = althaia.compare_report()
    return report.compared, report.different, report.not_deterministic


def test_all_is_well():
    althaia.compare(1.0)
    order = Order()
    for _ in range(3):
        assert order.dump(ROWS, many=True) == ROWS
        assert order.load(ROWS, many=True) == ROWS
        assert order.dumps(ROWS, many=True)
        assert althaia.json.dump_bytes(order, ROWS, many=True)
        assert order.loads(TEXT, many=True)
        wrong = {0: {"number": ["Not a valid integer."]}}
        assert order.validate([{"number": "x"}], many=True) == wrong
        with pytest.raises(ValidationError):
            order.load({"lines": 1})
    report = althaia.compare_report()
    assert (*counts(), report.skipped, report.rate) == (21, 0, 0, {}, 1.0)


def test_a_note_of_ours_is_no_difference():
    class Dated(Schema):
        at = fields.Date()

    seen = []
    notes.switch(True)
    althaia.compare(1.0, on_difference=seen.append)
    dated = Dated()
    try:
        for _ in range(20):
            with pytest.raises(TypeError) as caught:
                dated.dump({"at": 5})
    finally:
        notes.switch(False)
    assert caught.value.__notes__ == ["althaia: while dumping Dated.at"]
    assert seen == []


def test_a_wrong_answer_is_told_once(plant, caplog):
    plant("dump", spoil(7.0))
    found = []
    althaia.compare(1.0, found.append)
    order = Order(many=True)
    with caplog.at_level(logging.ERROR, "althaia.compare"):
        assert order.dump(ROWS)[3]["lines"][1] == {"price": 7.0}, "the caller has the plan's result"
        order.dump(ROWS)
    [finding] = found
    name = f"{__name__}.Order"
    assert (finding.schema, finding.call, finding.path) == (name, "dump", "[3].lines[1].price")
    assert (finding.difference.planned, finding.difference.upstream) == ("7.0", "2.0")
    [record] = caplog.records
    assert record.name == "althaia.compare"
    assert record.getMessage() == (
        f"{name}.dump differs at [3].lines[1].price: 7.0 by the plan, 2.0 by marshmallow's own "
        f"code. To see it again: python -m althaia compare {__name__}:Order "
        "--objects MODULE:NAME"
    )
    report = althaia.compare_report()
    assert (report.compared, report.different) == (2, 2)
    assert report.as_dict()["differences"][0]["path"] == "[3].lines[1].price"
    assert "2 calls compared, 2 different\n  " in report.as_text()


PLANTED = {
    "types": ("dump", spoil(2), "[3].lines[1].price", "int 2", "float 2.0"),
    "order of keys": (
        "dump", lambda result: [dict(reversed(each.items())) for each in result],
        "[0] (order of keys)", ".lines .number", ".number .lines",
    ),
    "text": ("dumps", lambda text: text.replace("4.5", "4.6"), "[3].lines[0].price", "4.6", "4.5"),
    "text that means the same": (
        "dumps", lambda text: text.replace(', "l', ',"l'),
        "(character 14)", """'[{"number": 0,"lines""", """'[{"number": 0, "lines""",
    ),
    "load": ("load", spoil(9.0), "[3].lines[1].price", "9.0", "2.0"),
}  # fmt: skip


@pytest.mark.parametrize(("call", "wrong", *"pab"), PLANTED.values(), ids=PLANTED)
def test_what_is_compared(plant, call, wrong, p, a, b):
    plant(call, wrong)
    althaia.compare(1.0)
    order = Order(many=True)
    # The first call declines, and its plan is for an instance that nobody has looked into.
    for _ in range(3):
        getattr(order, call)(ROWS)
    [finding] = althaia.compare_report().findings
    assert (finding.call, finding.path) == (call, p)
    assert finding.difference.planned.startswith(a)
    assert finding.difference.upstream.startswith(b)
    given = "--data FILE --load" if call == "load" else "--objects MODULE:NAME"
    assert finding.command.endswith(f":Order {given}")


def test_exceptions_are_compared(plant):
    class Late(Schema):
        @pre_load
        def complain(self, data, **kwargs):
            # The plan's run of it, and then each of upstream's.
            raise ValidationError({"planned": "a", "upstream": "b"}[compare.running.get()])

    althaia.compare(1.0)
    with pytest.raises(ValidationError, match="a"):
        Late().load({})
    [finding] = althaia.compare_report().findings
    assert finding.path.startswith("ValidationError.args[0]._schema[0]")

    def wrong(messages):
        raise ValidationError({"number": ["No."]})

    plant("load", wrong)
    althaia.compare(1.0)
    with pytest.raises(ValidationError, match="No"):
        Order().load({"number": 1})
    [finding] = althaia.compare_report().findings
    assert finding.path == ""
    assert finding.difference.planned.startswith("marshmallow.exceptions.ValidationError ")
    assert finding.difference.upstream == "dict {'number': 1}"


class Short(Schema):
    class Meta:
        exclude = ("gone",)

    number = fields.Int()


# marshmallow-sqlalchemy does this for ``Meta.exclude``.
Short._declared_fields["gone"] = None


def field(**declared):
    return Schema.from_dict(declared)()


def once(seen):
    """The first run has a side effect, after which every run gives the same."""
    return fields.Function(lambda obj: not seen and not seen.append(1))


NUMBERS = count()
SAME = {
    "an iterator inside": (Order().dump, {"number": 1, "lines": iter(ROWS[0]["lines"])}, 0),
    "not by every run": (field(new=once([])).dump, {}, 0),
    "another one in each": (field(n=fields.Function(lambda obj: next(NUMBERS))).dump, {}, 0),
    "no stream": (field(read=fields.Bool()).dump, SimpleNamespace(read=False), 1),
    "a field that is None": (field(s=fields.Nested(Short)).load, {"s": {"number": "1"}}, 1),
    "NaN": (field(a=fields.Float(allow_nan=True)).dump, {"a": float("nan")}, 1),
    "a date": (field(a=fields.Raw()).dump, {"a": datetime.now(UTC)}, 1),
}


@pytest.mark.parametrize(("call", "given", "compared"), SAME.values(), ids=SAME)
def test_what_is_no_difference(call, given, compared):
    althaia.compare(1.0)
    call(given)
    assert counts() == (compared, 0, 1 - compared)
    assert ("1 not deterministic" in althaia.compare_report().as_text()) == (not compared)


class Row(Schema):
    number = fields.Int()


Row.opts.load_instance = True
IN_SESSION = field(rows=fields.List(fields.Nested(Row())))
SKIPPED = {
    "with an input that can be read only once": lambda: Order().dump(iter(ROWS), many=True),
    "that load into a database session": lambda: IN_SESSION.load({"rows": [{"number": 1}]}),
}


@pytest.mark.parametrize(("reason", "call"), SKIPPED.items())
def test_what_is_skipped(reason, call):
    althaia.compare(1.0)
    assert call()
    report = althaia.compare_report()
    assert (report.compared, report.skipped) == (0, {reason: 1})
    assert f"skipped: 1 {reason}" in report.as_text()
    IN_SESSION.dump({"rows": [{"number": 1}]})
    assert althaia.compare_report().compared == 1


class Upload:
    """Passes on to a stream what it lacks, as werkzeug's FileStorage."""

    def __init__(self, text):
        self.stream = io.BytesIO(text)

    def __getattr__(self, name):
        return getattr(self.stream, name)


class Cursor:
    def __init__(self, text):
        self.rows = [text]

    def fetchone(self):
        return self.rows.pop()


@pytest.mark.parametrize(
    ("given", "read"),
    [(Upload, "read"), (io.BytesIO, "read"), (Cursor, "fetchone")],
    ids=["upload", "file", "cursor"],
)
@pytest.mark.parametrize("direction", ["load", "dump"])
def test_a_value_that_can_be_read_once_is_no_difference(given, read, direction):
    class Content(fields.Field):
        def _deserialize(self, value, *args, **kwargs):
            return getattr(value, read)()

        _serialize = _deserialize

    class Form(Schema):
        file = Content()

    althaia.compare(1.0)
    outer = field(forms=fields.List(fields.Nested(Form)))
    assert getattr(Form(), direction)({"file": given(b"text")}) == {"file": b"text"}
    forms = {"forms": [{"file": given(b"text")}]}
    assert getattr(outer, direction)(forms) == {"forms": [{"file": b"text"}]}
    assert counts()[:2] == (0, 0)
    assert counts()[2] + sum(althaia.compare_report().skipped.values()) == 2


@pytest.mark.parametrize("first_raises", [True, False])
def test_a_second_run_that_the_first_one_breaks_is_skipped(first_raises):
    """A lazy load that fails does this: it leaves a session that wants a rollback."""
    state = []

    class Row:
        @property
        def lines(self):
            if state:
                raise RuntimeError("this session's transaction has been rolled back")
            state.append(1)
            if first_raises:
                raise LookupError("the row is gone")
            return "lines"

    althaia.compare(1.0)
    dump = field(lines=fields.Str()).dump
    if first_raises:
        with pytest.raises(LookupError):
            dump(Row())
    else:
        assert dump(Row()) == {"lines": "lines"}
    assert counts()[1:] == (0, 0)
    assert althaia.compare_report().skipped == {"whose user code does not repeat": 1}


def test_comparing_calls_completes_no_instance():
    for _ in range(3):
        althaia.compare(1.0)
        for _ in range(40):
            Line().dump({"price": 1})
        assert althaia.compare_report().compared


APP = """
from marshmallow import Schema, fields
class S(Schema):
    a = fields.Int()
"""
WORKER = f"""
import sys
sys.path[:0] = [""]
import althaia
althaia.patch()
{Path(planted.__file__).read_text("utf-8")}
seam_layers.plan_at_once()
if sys.argv[1] == "wrong":
    plant(lambda given: {{"a": 2}}, "dump")
import app
for _ in range(3):
    app.S().dump({{"a": 1}})
"""


def reported(tmp_path, name, *words):
    words = ("-m", "althaia", "compare", "--report", name, *words)
    done = processes.run(*words, cwd=tmp_path)
    return done.returncode, done.stdout + done.stderr


def test_workers_collect_what_they_find_in_one_file(tmp_path):
    (tmp_path / "app.py").write_text(APP)
    env = {"ALTHAIA_COMPARE": "1", "ALTHAIA_COMPARE_FILE": str(tmp_path / "found.jsonl")}
    for worker in ("wrong", "right", "wrong"):
        processes.succeed("-c", WORKER, worker, cwd=tmp_path, env=env)
    workers, unended, report = compare.read_file(tmp_path / "found.jsonl")
    assert (workers, unended, report.compared, report.different) == (3, 0, 9, 6)
    [finding] = report.findings
    assert (finding.schema, finding.path) == ("app.S", "a")
    code, said = reported(tmp_path, "found.jsonl")
    assert code == 1
    assert said.startswith("3 processes: 9 calls compared, 6 different\n")
    assert "app.S.dump differs at a: 2 by the plan, 1 by marshmallow's own code" in said
    assert json.loads(reported(tmp_path, "found.jsonl", "--json")[1])["different"] == 6
    (tmp_path / "empty").touch()
    for name in ("none", "empty"):
        code, said = reported(tmp_path, name)
        assert (code, said[:12]) == (0, "0 processes ")
    (tmp_path / "empty").write_text("{}\n")
    code, said = reported(tmp_path, "empty")
    assert code == 2
    assert "is no line of compare mode" in said


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks here")
def test_a_killed_worker_is_counted_up_to_its_last_minute(tmp_path):
    code = f"""
import os, signal
import althaia
althaia.patch()
from althaia.trust import compare
{APP}
schema = S()
for _ in range(5):
    schema.dump({{"a": 1}})
if (pid := os.fork()) == 0:
    for _ in range(3):
        compare.session().due = 0  # A minute later.
        schema.dump({{"a": 1}})
    os.kill(os.getpid(), signal.SIGKILL)
os.waitpid(pid, 0)
"""
    file = tmp_path / "found.jsonl"
    env = {"ALTHAIA_COMPARE": "1", "ALTHAIA_COMPARE_FILE": str(file)}
    processes.succeed("-c", code, cwd=tmp_path, env=env)
    began, *_ = file.read_text("utf-8").splitlines()
    assert json.loads(began)["compared"] == 0
    workers, unended, report = compare.read_file(file)
    # Each line has what was compared before its call.
    assert (workers, unended, report.compared) == (2, 1, 5 + 2)
    told = "2 processes, 1 without an end: 7 calls compared, 0 different\n"
    assert reported(tmp_path, str(file)) == (0, told)


def test_a_hook_that_changes_its_input_is_given_a_copy_the_second_time():
    class Taking(Schema):
        a = fields.Int()

        @pre_load
        @pre_dump
        def take(self, data, **kwargs):
            data["a"] = data.pop("b")["c"].pop()
            return data

    althaia.compare(1.0)
    given = {"b": {"c": [1, 2]}}
    assert Taking().load(given) == {"a": 2}
    assert given == {"a": 2}, "the caller's input is changed, and once"
    inner = [1, 2]
    assert Taking().dump({"b": {"c": inner}}) == {"a": 2}
    assert inner == [1]
    assert counts() == (2, 0, 0)


def test_objects_that_a_hook_makes_are_compared_by_their_attributes(plant):
    class PointSchema(Schema):
        x = fields.Int()

        @post_load
        def make(self, data, **kwargs):
            return SimpleNamespace(**data)

    althaia.compare(1.0)
    PointSchema().load({"x": 1})
    assert althaia.compare_report().different == 0
    plant("load", lambda point: SimpleNamespace(x=point.x + 1))
    PointSchema().load({"x": 1})
    [finding] = althaia.compare_report().findings
    assert finding.path == "x"


def test_calls_inside_a_compared_one_are_part_of_it():
    calls = []

    class Outer(Schema):
        inner = fields.Function(Line().dump)

        @post_dump
        def note(self, data, **kwargs):
            calls.append(data)
            return data

    althaia.compare(1.0)
    Outer().dump({"price": 1})
    assert althaia.compare_report().compared == 1
    assert len(calls) == 2


def test_other_threads_have_their_plans_meanwhile():
    counted = []

    def look():
        thread = threading.Thread(target=lambda: counted.append(compare.running.get()))
        thread.start()
        thread.join()
        return 1

    althaia.compare(1.0)
    field(price=fields.Function(lambda obj: obj())).dump(look)
    assert counted == [None, None]


@pytest.mark.parametrize("schemas", [[Line], ["*.Line", "shop.*"]])
def test_only_some_schemas(schemas):
    althaia.compare(1.0, schemas=schemas)
    Line().dump({})
    Order().dump({})
    assert althaia.compare_report().compared == 1


def test_a_callback_that_raises_harms_nobody(plant, caplog):
    plant("dump", spoil(7.0))
    althaia.compare(1.0, lambda finding: 1 / 0)
    assert Order(many=True).dump(ROWS)
    assert "ZeroDivisionError" in caplog.text


def test_the_share(monkeypatch):
    state = random.getstate()
    monkeypatch.setattr(compare, "MOST_TIME", 1_000)
    althaia.compare(0.1)
    line = Line()
    for _ in range(2_000):
        line.dump({})
    assert 100 < althaia.compare_report().compared < 320
    assert random.getstate() == state, "the program's random numbers are its own"


def test_a_measured_load_without_a_plan_is_one_call(monkeypatch):
    class Own(Line):
        def _deserialize(self, data, **options):
            return super()._deserialize(data, **options)

    taken = []

    def take(session, *_):
        taken.append(1)
        return compare._GO_ON

    own = Own()
    monkeypatch.setattr(compare.Session, "take", take)
    with althaia.profile():
        althaia.compare(1.0)
        for _ in range(12):
            own.load({"price": 1.5})
    assert len(taken) == 12


def test_a_rate_below_one_limits_the_time(monkeypatch):
    clock, spent = [0.0], []

    def taken(self, *args):
        clock[0] += 100e-6
        spent.append(1)
        return real(self, *args)

    real = compare.Session.compare
    monkeypatch.setattr(compare, "Random", lambda: random.Random(1))
    monkeypatch.setattr(compare.Session, "compare", taken)
    monkeypatch.setattr(compare, "process_time", lambda: clock[0])
    monkeypatch.setattr(compare, "thread_time", lambda: clock[0])
    althaia.compare(0.01)
    line = Line()
    for _ in range(100_000):
        line.dump({})
        clock[0] += 1e-6
    # A tenth of a second of calls of a microsecond; 1,000 comparisons would take as long.
    assert 5 < len(spent) < 60
    (skipped,) = althaia.compare_report().skipped.items()
    assert skipped[0] == "to limit the time that is spent"
    assert 700 < skipped[1] < 1_300
    # All calls are all calls.
    spent.clear()
    althaia.compare(1.0)
    for _ in range(50):
        line.dump({})
    assert len(spent) == althaia.compare_report().compared == 50


def test_off_is_off():
    before = {name: getattr(seam, name) for name in seam._OWN}
    althaia.compare(0.5)
    Line().dump({})
    althaia.compare(0)
    compared = althaia.compare_report().compared
    for _ in range(50):
        Line().dump({})
    assert {name: getattr(seam, name) for name in seam._OWN} == before
    assert (althaia.compare_report().compared, althaia.compare_report().rate) == (compared, 0)


def test_a_rate_that_is_none():
    for rate in (-1, 1.5, "1", True, None):
        with pytest.raises(ValueError, match="from 0 to 1"):
            althaia.compare(rate)


def test_a_process_without_a_patch_is_told(tmp_path):
    said = processes.program(
        """
        import althaia, marshmallow
        althaia.compare(1)
        marshmallow.Schema().dump({})
        print(althaia.compare_report().as_text())
        althaia.compare(0)
        """,
        cwd=tmp_path,
    )
    assert said.startswith("0 calls compared")
    assert "call althaia.patch()" in said


CALLS = """
import althaia
althaia.patch()
from marshmallow import Schema, fields
class S(Schema):
    a = fields.Int()
{first}
S().dump({{"a": 1}})
S().load({{"a": 1}})
report = althaia.compare_report()
print(report.rate, report.compared, report.different)
"""


WAYS_IN = [
    ({}, "", "0.0 0 0"),
    ({"ALTHAIA_COMPARE": "1"}, "", "1.0 2 0"),
    ({"ALTHAIA_COMPARE": "0"}, "", "0.0 0 0"),
    ({}, "althaia.compare()", "1.0 2 0"),
    ({"ALTHAIA_COMPARE": "0.5"}, "althaia.compare(1.0)", "1.0 2 0"),
    ({"ALTHAIA_COMPARE": "1", "ALTHAIA_PLANS": "0"}, "", "0.0 0 0"),
    ({"ALTHAIA_COMPARE": "1", "ALTHAIA_DISABLE": "1"}, "", "0.0 0 0"),
]


@pytest.mark.parametrize(("env", "first", "expected"), WAYS_IN)
def test_ways_in(env, first, expected, program):
    assert program(CALLS.format(first=first), env=env).strip() == expected


@pytest.mark.parametrize("moment", ["import althaia", "from marshmallow import Schema, fields"])
def test_compare_before_there_is_a_schema(moment, program):
    code = CALLS.format(first="").replace(moment, f"{moment}\nimport althaia\nalthaia.compare()")
    assert program(code).strip() == "1.0 2 0"


def test_nothing_of_it_is_loaded_unless_asked_for(program):
    code = CALLS.format(first="").split("report =")[0]
    code += "import sys\nprint([m for m in sys.modules if m.startswith('althaia.trust')])"
    assert program(code).strip() == "[]"
