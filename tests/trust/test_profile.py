"""``althaia.profile()`` and ``python -m althaia profile``."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import althaia
from althaia import marshmallow as ma
from tests.conformance.harness import engine
from tests.redirect import processes

needs_engine = pytest.mark.skipif(engine is None, reason="no plans run in a pure build")
fields = ma.fields


class Inner(ma.Schema):
    a = fields.Integer(validate=lambda value: True)
    made = fields.Method("make")

    def make(self, obj: Any) -> int:
        return sum(range(100))


class Outer(ma.Schema):
    one = fields.Nested(Inner(exclude=["made"]))
    many = fields.List(fields.Nested(Inner))
    when = fields.String()

    @ma.post_load
    def keep(self, data: Any, **options: Any) -> Any:
        return data


class Node(ma.Schema):
    n = fields.Integer()
    inner = fields.Nested(lambda: Node())


ROW = {"one": {"a": 1}, "many": [{"a": 2}, {"a": 3}], "when": "x"}


def line(profile: Any, cls: type, direction: str) -> Any:
    (found,) = (
        each
        for each in profile.lines
        if each.schema == f"{__name__}.{cls.__qualname__}" and each.direction == direction
    )
    return found


def both(work: Callable[[], Any]) -> tuple[Any, Any]:
    """What a call gives without and with a profile."""

    def outcome() -> Any:
        try:
            return repr(work())
        except Exception as error:
            return type(error), error.args, str(error)

    before = [outcome() for _ in range(3)][-1]
    with althaia.profile():
        return before, [outcome() for _ in range(70)][-1]


@needs_engine
def test_a_step_that_takes_less_than_reading_the_clock_raises_nothing() -> None:
    """What the clock costs is subtracted, so a quick step may take a nanosecond less than none."""
    schema = ma.Schema.from_dict({f"f{i}": fields.Raw() for i in range(20)})(many=True)
    rows = [{f"f{i}": i for i in range(20)}] * 64
    for _ in range(300):
        with althaia.profile():
            assert schema.dump(rows) == rows
            assert schema.load(rows) == rows


@needs_engine
def test_counts_are_exact() -> None:
    schema = Outer()
    with althaia.profile() as profile:
        schema.dump([ROW] * 300, many=True)
        for _ in range(5):
            schema.dumps(ROW)
            schema.load(ROW, unknown="exclude")
            schema.loads(json.dumps([ROW] * 3), many=True)
    assert (line(profile, Outer, "dump").calls, line(profile, Outer, "dump").objects) == (1, 300)
    assert (line(profile, Inner, "dump").calls, line(profile, Inner, "dump").objects) == (900, 900)
    assert (line(profile, Outer, "dumps").calls, line(profile, Inner, "dumps").calls) == (5, 15)
    assert (line(profile, Outer, "load").calls, line(profile, Outer, "loads").calls) == (5, 5)
    assert line(profile, Outer, "loads").objects == 15
    assert all(each.own <= each.seconds for each in profile.lines)
    assert "field made" in line(profile, Inner, "dump").code
    assert "hook keep" in line(profile, Outer, "load").code
    code = line(profile, Inner, "load").code
    assert any("validator a" in name for name in code)
    # What validators took is not in their field's time again.
    assert code.get("field a", 0.0) < sum(code.values()) / 2
    assert line(profile, Outer, "loads").text > 0
    assert len(profile.fields) <= 10


@needs_engine
def test_nothing_is_counted_behind_it() -> None:
    with althaia.profile() as first:
        Node().dump({"n": 1})
    Node().dump({"n": 1})
    with althaia.profile() as second:
        Node().dump([{"n": 1}, {"n": 2}], many=True)
    assert line(first, Node, "dump").calls == 1
    assert (line(second, Node, "dump").calls, line(second, Node, "dump").objects) == (1, 2)


@needs_engine
def test_fields_are_measured_in_each_profile() -> None:
    Node().dump([{"n": 1}] * 200, many=True)
    for _ in range(2):
        with althaia.profile() as profile:
            Node().dump([{"n": 1}] * 5, many=True)
        assert [(each.name, each.values) for each in profile.fields] == [("n", 5)]


@needs_engine
def test_an_interruption_counts_once() -> None:
    """The 93rd object is measured for 31 objects."""

    class Row:
        def __init__(self, index: int) -> None:
            self.index = index

        @property
        def n(self) -> int:
            if self.index == 92:
                time.sleep(0.02)
            return 1

    with althaia.profile() as profile:
        Node(only=["n"]).dump([Row(index) for index in range(200)], many=True)
    assert 0.02 <= profile.fields[0].seconds < 0.2


@needs_engine
def test_a_schema_inside_itself_is_counted_once() -> None:
    with althaia.profile() as profile:
        Node().dump([{"n": 1, "inner": {"n": 2, "inner": {"n": 3}}}] * 60, many=True)
    found = line(profile, Node, "dump")
    assert found.objects == 180
    assert found.own <= found.seconds
    assert found.seconds < 1


@pytest.mark.parametrize(
    "work",
    [
        lambda: Outer().dump(ROW),
        lambda: Outer().dump({"one": {"a": "x"}}),
        lambda: Outer().dumps([ROW, ROW], many=True),
        lambda: Outer().load({"one": {"a": "x"}, "b": 1}),
        lambda: Outer().load([ROW, 1], many=True),
        lambda: Outer().loads('[{"one": {"a": 1}}, {"one": 2}]', many=True),
        lambda: Outer().loads("{"),
        lambda: Outer().validate({"when": 1}),
        lambda: Outer(many=True).dump(3),
    ],
)
def test_answers_are_the_same(work: Callable[[], Any]) -> None:
    without, profiled = both(work)
    assert profiled == without


@needs_engine
def test_a_call_outside_a_plan_has_its_reason() -> None:
    class Odd(ma.Schema):
        a = fields.Integer()

        @property
        def dict_class(self) -> Any:
            return dict

    with althaia.profile() as profile:
        for _ in range(3):
            assert Odd().dump({"a": 1}) == {"a": 1}
    found = next(each for each in profile.lines if each.schema.endswith("Odd"))
    assert (found.calls, found.outside_calls) == (3, 3)
    assert "dict_class" in found.why[0]


@needs_engine
def test_calls_before_a_plan_have_the_reason() -> None:
    from althaia.engine import planner

    class New(ma.Schema):
        a = fields.Integer()

    # In these tests plans are made at once otherwise.
    planner.build_at_once(False)
    with althaia.profile() as profile:
        for _ in range(3):
            New().dump({"a": 1})
    found = next(each for each in profile.lines if each.schema.endswith("New"))
    assert found.why == (
        "3 calls without a plan: one is made at the sixteenth use, at about the twelfth where each "
        "call makes an instance, and not for an instance whose fields were looked at before its "
        "first call",
    )


def test_text_and_page() -> None:
    with althaia.profile() as profile:
        Outer().dump([ROW] * 100, many=True)
    assert max(map(len, profile.as_text().splitlines())) <= 80
    page = profile.as_html()
    # A pure build times the marshmallow that programs import, not the copy that tests use.
    assert ("Outer" in page) is (engine is not None)
    assert not re.search(r"https?:|src=|<link", page)
    assert json.loads(json.dumps(profile.as_dict())).keys() == {"lines", "fields", "note"}


@needs_engine
def test_seconds_in_stats() -> None:
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


@pytest.mark.parametrize("disabled", ["", "1"])
def test_the_command(tmp_path: Path, disabled: str) -> None:
    (tmp_path / "script.py").write_text(PROGRAM + "sys.exit(3)\n")
    done = processes.run(
        "-m", "althaia", "profile", "--json", "--output", "p.json", "--html", "p.html",
        "script.py", "--json", cwd=tmp_path, env={"ALTHAIA_DISABLE": disabled},
    )  # fmt: skip
    assert done.returncode == 3, done.stderr
    assert done.stdout == "{'a': 1} ['--json']\n"
    (found,) = json.loads((tmp_path / "p.json").read_text("utf-8"))["lines"]
    assert (found["schema"], found["calls"], found["objects"]) == ("__main__.S", 1, 20)
    assert "__main__.S" in (tmp_path / "p.html").read_text("utf-8")


def test_an_exception_is_shown_as_ever(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(PROGRAM + "raise ValueError('x')\n")
    plain = processes.run("-m", "althaia", "script.py", cwd=tmp_path)
    done = processes.run("-m", "althaia", "profile", "script.py", cwd=tmp_path)
    assert done.returncode == plain.returncode == 1
    assert done.stderr.startswith(plain.stderr)
    assert "__main__.S" in done.stderr


def test_nothing_to_run(tmp_path: Path) -> None:
    assert processes.run("-m", "althaia", "profile", cwd=tmp_path).returncode == 2
