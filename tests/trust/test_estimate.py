"""``python -m althaia profile --estimate``: what althaia would save, measured where it runs."""

import json

import pytest

from tests.engine import NEEDS_ENGINE
from tests.redirect import processes

pytestmark = NEEDS_ENGINE

PROGRAM = """
import contextvars, os, sys, time
from types import SimpleNamespace
from marshmallow import Schema, ValidationError, fields, post_load, pre_dump

application = contextvars.ContextVar("application")

class Row:
    number = 5
    text = "x"
    loaded = False

    @property
    def waits(self):
        if not self.loaded:
            self.loaded = True
            time.sleep(0.02)
            sum(range(100_000))
        return application.get()

class Flat(Schema):
    number = fields.Integer()
    text = fields.String(required=True)

class Waiting(Flat):
    waits = fields.String()

class Taken(Flat):
    @post_load
    def count(self, data, **options):
        global loads
        loads += 1
        return SimpleNamespace(**data)

class Hooked(Flat):
    @pre_dump(pass_collection=True)
    def seen(self, rows, **options):
        assert type(rows) is type(iter([]))
        return rows

class Rare(Flat):
    pass

class Odd(Flat):
    def __getattribute__(self, name):
        return super().__getattribute__(name)

loads = 0

def main():
    application.set("there")
    for _ in range(20):
        assert Waiting().dump(Row())["waits"] == "there"
        Flat(many=True).dump([Row()] * 500)
        assert Taken().load({"number": "7", "text": "x"}).number == 7
        Odd().dump(Row())
        Flat().dumps(iter([Row()] * 50), many=True)
        Hooked().dumps(iter([Row()]), many=True)
        try:
            Flat().load({"number": "x"})
        except ValidationError as error:
            assert len(error.messages) == 2
    Rare().loads('{"text": ""}')

main()
"""


def estimate(tmp_path, *words, code=PROGRAM, **env):
    (tmp_path / "script.py").write_text(code)
    words = ("-m", "althaia", "profile", "--estimate", *words, "script.py")
    return processes.run(*words, cwd=tmp_path, env=env)


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    done = estimate(tmp_path_factory.mktemp("estimate"), "--json")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    return json.loads(done.stderr)


def line(found, schema, call):
    name = f"__main__.{schema}"
    (one,) = (each for each in found["lines"] if (each["schema"], each["call"]) == (name, call))
    return one


def test_what_waits_and_what_is_loaded_are_no_part_of_marshmallow(found):
    waiting = line(found, "Waiting", "dump")
    assert waiting["measured"] > 2
    assert waiting["wait"] > 0.3
    assert waiting["loading"] > 10 * waiting["marshmallow"]
    assert found["share"] < 0.9
    assert found["althaia"] < found["marshmallow"]


def test_lists_gain_most(found):
    flat, instances = line(found, "Flat", "dump"), line(found, "Flat", "()")
    assert flat["calls"] == 20
    assert flat["marshmallow"] > 4 * flat["althaia"]
    assert instances["marshmallow"] > instances["althaia"]


def test_what_cannot_be_measured_says_why(found):
    assert "__getattribute__" in line(found, "Odd", "dump")["why"]
    assert "can be read only once" in line(found, "Hooked", "dumps")["why"]
    assert line(found, "Flat", "dumps")["measured"] > 2
    assert line(found, "Rare", "loads")["why"] == "no instance was used often enough"
    assert [each["schema"] for each in found["lines"] if each["measured"]].count("__main__.Odd") < 2


def test_the_text_has_80_columns(tmp_path):
    done = estimate(tmp_path, "--output", "told")
    assert done.stderr == ""
    told = (tmp_path / "told").read_text("utf-8").splitlines()
    assert max(map(len, told)) <= 80
    assert told[0].startswith("marshmallow is ")
    assert any(each.startswith("  not measured: ") for each in told)


def test_only_a_few_calls_are_made_again(tmp_path):
    more = "for _ in range(2_000): Taken().load({'text': 'x'})\nprint(loads)\n"
    done = estimate(tmp_path, code=PROGRAM + more)
    assert 2_020 < int(done.stdout) < 2_250


def test_each_forked_worker_tells_of_itself(tmp_path):
    code = PROGRAM.replace("\nmain()", "\nif os.fork(): os.wait()\nelse: main()")
    told = estimate(tmp_path, code=code).stderr
    assert told.count("marshmallow is ") == 1
    assert "No schema was" not in told


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [("DISABLE", "1", "unset"), ("COMPARE", "1", "unset"), ("PLANS", "0", "nothing to estimate")],
)
def test_where_there_is_nothing_to_estimate(tmp_path, variable, value, said):
    done = estimate(tmp_path, code="print('ran')", **{f"ALTHAIA_{variable}": value})
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
