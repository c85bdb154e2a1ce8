"""``check`` and ``convert`` on the command line."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from althaia import cli
from tests.redirect import processes

# Each test starts a process, some several; tests/bulk has the same without the command line.
pytestmark = pytest.mark.slow

SCHEMAS = """
from marshmallow import Schema, fields

class Order(Schema):
    id = fields.Integer(required=True)
    paid = fields.Boolean()
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "orders.py").write_text(SCHEMAS)
    (tmp_path / "good.ndjson").write_text('{"id": 1, "paid": true}\n{"id": 2}\n')
    (tmp_path / "bad.ndjson").write_text('{"id": 1}\n{"id": "x"}\n{"id": 3, "p')
    return tmp_path


def run(folder, *words, **options):
    return processes.run("-m", "althaia", *words, cwd=folder, timeout=900, **options)


def test_problems_are_told_by_line(folder):
    done = run(folder, "check", "orders:Order", "good.ndjson")
    assert (done.returncode, done.stdout, done.stderr) == (0, "2 records, 2 valid\n", "")
    done = run(folder, "check", "orders:Order", "good.ndjson", "bad.ndjson", "--errors-to", "out")
    assert done.returncode == 1
    told = done.stdout.splitlines()
    assert told[0] == 'bad.ndjson:2: {"id": ["Not a valid integer."]}'
    assert told[1].startswith("bad.ndjson:3: not JSON: ")
    assert told[2] == "5 records, 3 valid, 1 invalid, 1 unreadable"
    assert told[3].split() == ["1", "id:", "Not", "a", "valid", "integer."]
    assert [json.loads(x)["line"] for x in (folder / "out").read_text().splitlines()] == [2, 3]
    done = run(folder, "check", "orders:Order", "bad.ndjson", "--show", "0")
    assert done.stdout.startswith("3 records")
    # What a module prints is no part of the answer.
    (folder / "loud.py").write_text("print('hello')\nfrom orders import *\n")
    done = run(folder, "check", "loud:Order", "bad.ndjson", "--json")
    report = json.loads(done.stdout)
    assert (report["records"], report["valid"], report["invalid"]) == (3, 1, 1)
    assert "hello" in done.stderr


def test_what_is_valid_is_converted(folder):
    done = run(folder, "convert", "orders:Order", "bad.ndjson", "out.csv")
    assert done.returncode == 1
    assert (folder / "out.csv").read_text() == "id,paid\n1,\n"


def test_what_the_output_cannot_hold_is_escaped(folder):
    (folder / "odd.ndjson").write_text('{"id": 1, "\\ud800": 1}\n{"id": 2, "é": 1}\n')
    done = run(folder, "check", "orders:Order", "odd.ndjson", env={"PYTHONIOENCODING": "ascii"})
    assert (done.returncode, done.stderr) == (1, "")
    assert "\\ud800: Unknown field." in done.stdout
    assert "\\xe9: Unknown field." in done.stdout


@pytest.mark.parametrize("words", [("check",), ("convert",)])
def test_a_reader_that_has_enough_is_left_quietly(folder, words):
    (folder / "many.ndjson").write_text('{"id": "x"}\n' * 20_000)
    target = ("out.ndjson",) if words == ("convert",) else ()
    process = subprocess.Popen(
        [sys.executable, "-m", "althaia", *words, "orders:Order", "many.ndjson", *target,
         "--show", "20000"],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout.readline() == 'many.ndjson:1: {"id": ["Not a valid integer."]}\n'
    process.stdout.close()
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.wait() == 2
    assert not (folder / "out.ndjson").exists()


FULL = Path("/dev/full")


@pytest.mark.skipif(not FULL.exists(), reason="there is no device that is always full here")
@pytest.mark.parametrize("show", ["1", "20000"])
def test_an_output_that_is_full(folder, show):
    (folder / "many.ndjson").write_text('{"id": "x"}\n' * 20_000)
    words = ("check", "orders:Order", "many.ndjson", "--show", show)
    with FULL.open("w") as full:
        done = run(folder, *words, stdout=full)
    said = "standard output cannot be written: No space left on device"
    assert (done.returncode, done.stderr) == (2, f"python -m althaia check: {said}\n")
    done = run(folder, *words, "--errors-to", str(FULL))
    said = f"{FULL}: cannot be written: No space left on device"
    assert (done.returncode, done.stderr) == (2, f"python -m althaia check: {said}\n")


def test_an_interrupt_before_the_command_is_imported_is_one_line(monkeypatch, capsys):
    def module_of(command):
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "module_of", module_of)
    assert cli.main(["check", "orders:Order", "x.ndjson"]) == 130
    assert capsys.readouterr().err == "python -m althaia check: ended by SIGINT\n"


def test_standard_input_is_not_converted_onto_itself(folder):
    before = (folder / "good.ndjson").read_bytes()
    with open(folder / "good.ndjson", "rb") as given:
        done = run(folder, "convert", "orders:Order", "-", "good.ndjson", stdin=given)
    assert done.returncode == 2
    assert "good.ndjson: is also read, as -: name another file" in done.stderr
    assert (folder / "good.ndjson").read_bytes() == before


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import sys; sys.exit(0)", "SystemExit: 0"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("import no_such", "ModuleNotFoundError: No module named 'no_such'"),
    ],
)
def test_a_module_that_fails_or_ends_itself(folder, code, said, workers):
    if workers == "2":
        # It raises only where workers import it.
        code = f"import multiprocessing\nif multiprocessing.parent_process():\n    {code}"
    (folder / "orders.py").write_text(f"{SCHEMAS}\n{code}\n")
    done = run(folder, "convert", "orders:Order", "good.ndjson", "out.json", "--workers", workers)
    assert (done.returncode, done.stdout) == (2, "")
    if workers == "1":
        assert done.stderr.startswith(f"python -m althaia convert: orders:Order raised {said} (")
        assert "orders.py, line " in done.stderr
    else:
        said = f"a worker cannot import the schema: {said}"
        assert done.stderr == f"python -m althaia convert: {said}\n"
    assert not (folder / "out.json").exists()


PIPED = [
    ("-", "ndjson", '{"id": 1}\n{"id": "x"}\n'),
    ("/dev/stdin", "ndjson", '{"id": 1}\n{"id": "x"}\n'),
    ("/dev/stdin", "json", '[{"id": 1}, {"id": "x"}]'),
]


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize(("name", "form", "given"), PIPED)
def test_standard_input(folder, workers, name, form, given):
    words = ("check", "orders:Order", name, "--workers", workers, "--format", form)
    done = run(folder, *words, stdin=given)
    assert done.returncode == 1, done.stderr
    assert done.stdout.splitlines()[:2] == [
        f'{name}:2: {{"id": ["Not a valid integer."]}}',
        "2 records, 1 valid, 1 invalid",
    ]
    words = ("convert", "orders:Order", "-", "o.json", "--format", "csv")
    done = run(folder, *words, stdin="id\n7\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads((folder / "o.json").read_text())[0]["id"] == 7
