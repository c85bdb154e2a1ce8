"""``explain`` of a whole module, and what the command line does where something is wrong."""

import json
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from tests.engine import NEEDS_ENGINE
from tests.redirect.processes import environment

SCHEMAS = """
from marshmallow import Schema, fields

class Price(fields.Float):
    def _serialize(self, value, attr, obj, **kwargs):
        return "much"

class Line(Schema):
    price = Price()
    amount = fields.Int()

class Order(Schema):
    number = fields.Int()
    lines = fields.List(fields.Nested(Line))

class Plain(Schema):
    number = fields.Int()

class Picky(Schema):
    def __init__(self, needed):
        super().__init__()

class Lost(Schema):
    there = fields.Nested("Nowhere")

class Own(Plain):
    def _serialize(self, obj, *, many=False):
        return super()._serialize(obj, many=many)

class Above(Schema):
    owns = fields.Nested(Own, many=True)
"""


@pytest.fixture
def explain(run, tmp_path):
    (tmp_path / "app").mkdir()
    for name, text in {
        "__init__": "print('imported')\n",
        "schemas": SCHEMAS,
        "plain": "import marshmallow as ma\nclass Good(ma.Schema):\n    a = ma.fields.Int()\n",
    }.items():
        (tmp_path / "app" / f"{name}.py").write_text(text)
    return lambda *words, **kwargs: run("-m", "althaia", "explain", *words, **kwargs)


@NEEDS_ENGINE
def test_a_package_worst_first(explain):
    done = explain("app")
    assert done.returncode == 0, done.stderr
    first, *lines = done.stdout.splitlines()
    assert first == "app: 8 schemas, 6 with steps outside a plan"
    assert lines[0].startswith("         ?  app.schemas.Picky: TypeError: ")
    assert "   1 of 4   app.schemas.Line: dump price" in lines
    of = {name: line for line in lines for name in re.findall(r"app\.schemas\.(\w+):", line)}
    assert "dump lines" in of["Order"]
    assert of["Order"].endswith(".price"), "the code of a nested schema is counted"
    assert "dump there, load there (nested schema unknown: RegistryError: " in of["Lost"]
    assert of["Lost"].count("Nowhere") == 1
    assert of["Own"].endswith("Own: dump (all) by its own _serialize")
    assert of["Above"].endswith("Above: dump owns by its own _serialize")
    assert lines[-2:] == ["   0 of 2   app.plain.Good", "   0 of 2   app.schemas.Plain"]


@NEEDS_ENGINE
def test_readers_of_libraries_are_named(explain, tmp_path):
    pytest.importorskip("sqlalchemy")
    (tmp_path / "mapped.py").write_text("import sqlalchemy.orm\nfrom app.plain import Good\n")
    done = explain("mapped:Good")
    assert "mapped objects: read directly" in done.stdout
    (tmp_path / "app" / "mapped.py").write_text("import sqlalchemy.orm\n")
    assert "mapped objects: read directly" in explain("app").stdout


@NEEDS_ENGINE
def test_as_json(explain):
    done = explain("app.schemas", "--json")
    shown = {each["schema"]: each for each in json.loads(done.stdout)}
    assert shown["app.schemas.Line"]["unplanned"] == ["dump price"]
    assert "imported" in done.stderr
    assert shown["app.schemas.Lost"]["unresolved"][0].startswith("RegistryError: ")
    assert json.loads(explain("app.schemas:Line", "--json").stdout)["schema"].endswith("Line")


def test_where_no_plans_run_it_is_said_once(explain):
    done = explain("app", "--fail-on", "unplanned", env={"ALTHAIA_PLANS": "0"})
    assert done.returncode == 1
    (said,) = done.stdout.splitlines()
    assert said.startswith("app: 8 schemas, and no plans run: ALTHAIA_PLANS=0 is set")


@NEEDS_ENGINE
@pytest.mark.parametrize(
    ("what", "code"),
    [("app", 1), ("app.plain", 0), ("app.schemas:Line", 1), ("app.schemas:Plain", 0)],
)
def test_fail_on_unplanned(explain, what, code):
    assert explain(what, "--fail-on", "unplanned").returncode == code
    assert explain(what).returncode == 0


@pytest.mark.parametrize(
    "words",
    [
        "info --verbose",
        "explain app",
        "explain app.plain:Good --json",
        "bench app.plain:Good --rounds 1 --objects 2",
        pytest.param("compare app.plain:Good --objects app.samples:GIVEN", marks=NEEDS_ENGINE),
        "check app.plain:Good app/given.ndjson",
        "convert app.plain:Good app/given.ndjson app/made.csv",
        "check --help",
        "--help",
        "--version",
    ],
)
def test_a_closed_pipe_ends_quietly(explain, tmp_path, words):
    (tmp_path / "app" / "__init__.py").write_text("")
    (tmp_path / "app" / "samples.py").write_text("GIVEN = [{'a': 1}]\n")
    (tmp_path / "app" / "given.ndjson").write_text('{"a": 1}\n')
    with subprocess.Popen(
        [sys.executable, "-m", "althaia", *words.split()],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env=environment({"PYTHONUNBUFFERED": "1"}),
    ) as process:
        process.stdout.close()
        # rich writes a line break behind its progress bar.
        assert process.stderr.read().strip() == b""
        assert process.wait() == 0, "as under 'head'"


def test_a_stream_that_cannot_write_all_signs(explain, run):
    explain("app")
    words = ("bench", "app.plain:Good", "--rounds", "1", "--objects", "2", "--dump")
    done = run("-m", "althaia", *words, env={"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0, done.stderr
    assert "marshmallow, us per object" in done.stdout
    assert re.search(r"\dx +\d.*-.* identical", done.stdout)
    code = "from app.plain import Good; Good().dump({})"
    done = run("-m", "althaia", "profile", "-c", code, env={"PYTHONIOENCODING": "ascii"})
    assert " us " in done.stderr


def test_a_mistyped_command(run):
    done = run("-m", "althaia", "exlpain", "app")
    assert done.returncode == 2
    assert done.stderr.endswith("did you mean 'explain'?\n")


@pytest.mark.parametrize("command", ["bench", "check", "compare", "convert", "explain", "info"])
def test_help_is_as_wide_as_the_terminal(run, command):
    for columns in ("60", "80"):
        shown = run("-m", "althaia", command, "--help", env={"COLUMNS": columns}).stdout
        # argparse does not divide an option; an example is to be copied.
        text = shown.partition("\n\n")[2].splitlines()
        assert max(len(line) for line in text if "    python -m" not in line) <= int(columns)


def test_the_console_script_is_the_command_line():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    module, _, name = project["scripts"]["althaia"].partition(":")
    assert getattr(import_module(module), name) is import_module("althaia.cli").start


def test_the_console_script_finds_modules_of_the_current_folder(run, tmp_path):
    (tmp_path / "start.py").write_text("from althaia.cli import start\nstart()\n")
    (tmp_path / "work").mkdir()
    (tmp_path / "work/shop.py").write_text("from marshmallow import Schema as Empty\n")
    shown = run(tmp_path / "start.py", "explain", "shop:Empty", cwd=tmp_path / "work")
    assert shown.returncode == 0, shown.stderr
