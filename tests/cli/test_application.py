"""What all commands share: pipes, terminals, mistyped names, the console script."""

import re
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from tests.engine import NEEDS_ENGINE
from tests.redirect.processes import environment


@pytest.fixture
def app(tmp_path):
    (tmp_path / "app").mkdir()
    text = "import marshmallow as ma\nclass Good(ma.Schema):\n    a = ma.fields.Int()\n"
    (tmp_path / "app" / "plain.py").write_text(text)
    return tmp_path / "app"


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
def test_a_closed_pipe_ends_quietly(app, words):
    (app / "samples.py").write_text("GIVEN = [{'a': 1}]\n")
    (app / "given.ndjson").write_text('{"a": 1}\n')
    with subprocess.Popen(
        [sys.executable, "-m", "althaia", *words.split()],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=app.parent,
        env=environment({"PYTHONUNBUFFERED": "1"}),
    ) as process:
        process.stdout.close()
        # rich writes a line break behind its progress bar.
        assert process.stderr.read().strip() == b""
        assert process.wait() == 0, "as under 'head'"


def test_a_stream_that_cannot_write_all_signs(app, run):
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
