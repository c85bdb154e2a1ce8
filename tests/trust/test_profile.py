"""``althaia.profile()`` and ``python -m althaia profile``."""

import cProfile
import json
import time

import pytest

import althaia
from althaia import marshmallow as ma
from althaia.trust import profile as trust_profile
from tests.conformance.harness import engine
from tests.redirect import processes

needs_engine = pytest.mark.skipif(engine is None, reason="no plans run in a pure build")
fields = ma.fields


class Inner(ma.Schema):
    a = fields.Integer(validate=lambda value: True)
    made = fields.Method("make")

    def make(self, obj):
        return sum(range(100))


class Outer(ma.Schema):
    one = fields.Nested(Inner(exclude=["made"]))
    many = fields.List(fields.Nested(Inner))
    when = fields.String()

    @ma.post_load
    def keep(self, data, **options):
        return data


class Node(ma.Schema):
    n = fields.Integer()
    inner = fields.Nested(lambda: Node())


ROW = {"one": {"a": 1}, "many": [{"a": 2}, {"a": 3}], "when": "x"}


def names(found):
    return {label.rpartition(" ")[0] for label in found.code}


def profiled(work):
    with althaia.profile() as profile:
        work()
    return profile


@needs_engine
def test_counts_are_exact():
    schema = Outer()
    with althaia.profile() as profile:
        schema.dump([ROW] * 300, many=True)
        for _ in range(5):
            schema.dumps(ROW)
            schema.load(ROW, unknown="exclude")
            schema.loads(json.dumps([ROW] * 3), many=True)
        assert schema.validate({"when": "x"}) == {}
        assert schema.validate({"when": 1}) == {"when": ["Not a valid string."]}
    assert sorted((each.direction, each.calls, each.objects) for each in profile.lines) == [
        ("dump", 1, 300), ("dumps", 5, 5), ("load", 7, 7), ("loads", 5, 15),
    ]  # fmt: skip
    assert not any(each.outside_calls for each in profile.lines)
    # What a plan does for a nested schema is a part of its call.
    assert {each.schema for each in profile.lines} == {f"{__name__}.Outer"}
    assert all(each.user <= each.own <= each.seconds for each in profile.lines)
    # Nothing is counted behind it.
    first = profiled(lambda: Node().dump({"n": 1}))
    Node().dump({"n": 1})
    second = profiled(lambda: Node().dump([{"n": 1}, {"n": 2}], many=True))
    assert [(each.calls, each.objects) for each in first.lines + second.lines] == [(1, 1), (1, 2)]


@needs_engine
def test_a_schema_inside_itself_is_counted_once():
    class Chain(ma.Schema):
        n = fields.Integer()
        inner = fields.Function(lambda obj: Chain().dump(obj["inner"]) if "inner" in obj else None)

    chain = {"n": 1, "inner": {"n": 2, "inner": {"n": 3}}}
    (found,) = profiled(lambda: Chain().dump(chain)).lines
    assert found.calls == found.objects == 3
    assert found.own <= found.seconds < 1


@needs_engine
def test_the_users_functions_are_told():
    with althaia.profile() as profile:
        Outer().dump(ROW)
        Outer().load(ROW, unknown="exclude")
    dump, load = sorted(profile.lines, key=lambda each: each.direction)
    assert names(dump) == {"Inner.make"}
    assert names(load) == {"Inner.<lambda>", "Outer.keep"}
    assert all(label.endswith(")") and "(test_profile.py:" in label for label in load.code)
    assert load.user == pytest.approx(sum(load.code.values()))


@needs_engine
def test_a_function_has_the_time_of_what_it_calls():
    """Calls of another schema have a line of their own."""

    class Slow(ma.Schema):
        slow = fields.Function(lambda obj: time.sleep(0.02))

    class Asks(Slow):
        other = fields.Function(lambda obj: Slow().dump(obj))

    lines = profiled(lambda: Asks().dump({})).lines
    asks, slow = sorted(lines, key=lambda each: each.schema)
    assert 0.02 <= asks.own <= asks.seconds - 0.02
    assert 0.02 <= slow.user <= slow.own
    assert max(asks.code.values()) >= 0.02
    assert min(asks.code.values()) < 0.02


@needs_engine
def test_what_watching_takes_is_subtracted_and_told(monkeypatch):
    # Other processes of a busy machine do not count.
    monkeypatch.setattr(trust_profile, "perf_counter", time.thread_time)

    class Small:
        a = property(lambda self: 1)

    schema, rows = ma.Schema.from_dict({"a": fields.Integer()})(), [Small()] * 50
    schema.dump(rows, many=True)
    with althaia.profile() as profile:
        for _ in range(200):
            schema.dump(rows, many=True)
    (found,) = profile.lines
    # The functions do nothing: nearly all of the time is that of watching them.
    assert found.overhead > found.own
    assert found.user <= found.own < found.own + found.overhead
    assert "~" in profile.as_text().splitlines()[1]
    assert "watching your functions took more than a fifth" in profile.as_text()


@needs_engine
def test_the_code_of_a_package_is_not_the_users():
    sqlalchemy, orm = map(pytest.importorskip, ("sqlalchemy", "sqlalchemy.orm"))

    class Row(orm.declarative_base()):
        __tablename__ = "rows"
        id = orm.mapped_column(sqlalchemy.Integer, primary_key=True)

    class Own(ma.Schema):
        id = fields.Function(lambda row: row.id)
        session = fields.Function(orm.object_session)

    profile = profiled(lambda: Own().dump(Row(id=1)))
    lines = {name for line in profile.lines for name in line.packages}
    assert "SQLAlchemy: object_session" in {name.partition(" (")[0] for name in lines}
    assert "Code of installed packages" in profile.as_text()
    assert any("<lambda>" in name for line in profile.lines for name in line.code)


@needs_engine
def test_an_exception_and_a_generator_end_a_function():
    class Raising(ma.Schema):
        a = fields.Function(lambda obj: 1 // obj["n"])

    def rows():
        for n in (1, 2, 0):
            yield {"n": n}

    with althaia.profile() as profile, pytest.raises(ZeroDivisionError):
        Raising().dump(rows(), many=True)
    (found,) = profile.lines
    assert {name.rpartition(".")[2] for name in names(found)} == {"<lambda>", "rows"}


@needs_engine
def test_a_profiler_that_runs_already_keeps_running():
    with cProfile.Profile() as profiler:
        profile = profiled(lambda: Outer().dump(ROW))
    assert [each.calls for each in profile.lines] == [1]
    assert "make" in {getattr(each.code, "co_name", "") for each in profiler.getstats()}


def outcome(work):
    try:
        return repr(work())
    except Exception as error:
        return type(error), error.args, str(error)


ANSWERED = [
    lambda: Outer().dump(ROW),
    lambda: Outer().dump({"one": {"a": "x"}}),
    lambda: Outer().dumps([ROW, ROW], many=True),
    lambda: Outer().load({"one": {"a": "x"}, "b": 1}),
    lambda: Outer().load([ROW, 1], many=True),
    lambda: Outer().loads('[{"one": {"a": 1}}, {"one": 2}]', many=True),
    lambda: Outer().loads("{"),
    lambda: Outer().validate({"when": 1}),
    lambda: Outer(many=True).dump(3),
]


@pytest.mark.parametrize("work", ANSWERED)
def test_answers_are_the_same(work):
    before = [outcome(work) for _ in range(3)][-1]
    with althaia.profile():
        assert [outcome(work) for _ in range(70)][-1] == before


@needs_engine
def test_calls_outside_a_plan_are_counted():
    class Odd(ma.Schema):
        a = fields.Integer()
        dict_class = property(lambda self: dict)

    profile = profiled(lambda: [Odd().dump({"a": 1}) for _ in range(3)])
    found = next(each for each in profile.lines if each.schema.endswith("Odd"))
    assert (found.calls, found.outside_calls, found.outside) == (3, 3, found.own)
    assert "Odd.dump (3 of 3 calls)" in profile.as_text()


def test_text_and_data():
    profile = profiled(lambda: Outer().dump([ROW] * 100, many=True))
    assert max(map(len, profile.as_text().splitlines())) <= 80
    # A pure build times the marshmallow that programs import, not the copy that tests use.
    assert ("Outer" in profile.as_text()) is (engine is not None)
    assert json.loads(json.dumps(profile.as_dict())).keys() == {"lines", "note"}


@needs_engine
def test_seconds_in_stats():
    name = f"{__name__}.Node"
    althaia.stats(timed=True)
    Node().dump({"n": 1})
    assert althaia.stats(timed=False)[name]["dump"]["seconds"] > 0
    before = althaia.stats()[name]["dump"]["seconds"]
    Node().dump({"n": 1})
    assert althaia.stats()[name]["dump"]["seconds"] == before


PROGRAM = """
import sys
import marshmallow as ma
class S(ma.Schema):
    a = ma.fields.Integer()
print(S().dump([{"a": 1}] * 20, many=True)[0], sys.argv[1:])
"""


def run(tmp_path, *words, text=None, **options):
    if text is not None:
        (tmp_path / "script.py").write_text(text)
    return processes.run("-m", "althaia", *words, cwd=tmp_path, **options)


@pytest.mark.parametrize("disabled", ["", "1"])
def test_the_command(tmp_path, disabled):
    words = ("profile", "--json", "--output", "p.json", "script.py", "--json")
    env = {"ALTHAIA_DISABLE": disabled}
    done = run(tmp_path, *words, text=f"{PROGRAM}sys.exit(3)\n", env=env)
    assert (done.returncode, done.stdout) == (3, "{'a': 1} ['--json']\n"), done.stderr
    (found,) = json.loads((tmp_path / "p.json").read_text("utf-8"))["lines"]
    assert (found["schema"], found["calls"], found["objects"]) == ("__main__.S", 1, 20)


def test_a_program_that_changes_its_folder_and_raises(tmp_path):
    text = f"import os\nos.chdir(os.sep)\n{PROGRAM}raise ValueError\n"
    plain, done = run(tmp_path, "script.py", text=text), run(tmp_path, "profile", "script.py")
    assert done.returncode == plain.returncode == 1
    assert done.stderr.startswith(plain.stderr)
    assert "__main__.S" in done.stderr
    done = run(tmp_path, "profile", "--output", "p", "script.py")
    assert (done.returncode, done.stderr) == (1, plain.stderr)
    assert "__main__.S" in (tmp_path / "p").read_text("utf-8")


def test_what_is_refused_before_the_program_runs(tmp_path):
    words = ("profile", "--output", "missing/p", "script.py")
    done = run(tmp_path, *words, text="open('ran', 'w')\n")
    assert done.returncode == run(tmp_path, "profile").returncode == 2
    assert "missing/p: cannot be written: No such file or directory" in done.stderr
    assert not (tmp_path / "ran").exists()


def test_an_interruption_is_no_part_of_what_watching_takes():
    """As by another process on a busy machine: it would be subtracted from each call."""
    waits = iter([False] * 150 + [True])
    added, within = trust_profile._middle(lambda: next(waits, False) and time.sleep(0.05))
    assert added < 1e-4 > within
