"""``check`` and ``convert`` on the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCHEMAS = """
from marshmallow import Schema, fields

class Order(Schema):
    id = fields.Integer(required=True)
    paid = fields.Boolean()

ready = Order(only=["id"])
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "orders.py").write_text(SCHEMAS)
    (tmp_path / "good.ndjson").write_text('{"id": 1, "paid": true}\n{"id": 2}\n')
    (tmp_path / "bad.ndjson").write_text('{"id": 1}\n{"id": "x"}\n{"id": 3, "p')
    return tmp_path


def run(folder: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "althaia", *words],
        cwd=folder,
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=False,
    )


def test_all_is_valid(folder):
    done = run(folder, "check", "orders:Order", "good.ndjson")
    assert (done.returncode, done.stdout, done.stderr) == (0, "2 records, 2 valid\n", "")


def test_problems_are_told_by_line(folder):
    done = run(folder, "check", "orders:Order", "good.ndjson", "bad.ndjson", "--errors-to", "out")
    assert done.returncode == 1
    told = done.stdout.splitlines()
    assert told[0] == 'bad.ndjson:2: {"id": ["Not a valid integer."]}'
    assert told[1].startswith("bad.ndjson:3: not JSON: ")
    assert told[2] == "5 records, 3 valid, 1 invalid, 1 unreadable"
    assert told[3].split() == ["1", "id:", "Not", "a", "valid", "integer."]
    assert [json.loads(x)["line"] for x in (folder / "out").read_text().splitlines()] == [2, 3]


def test_as_json_and_with_few_shown(folder):
    done = run(folder, "check", "orders:Order", "bad.ndjson", "--json")
    report = json.loads(done.stdout)
    assert (report["records"], report["valid"], report["invalid"]) == (3, 1, 1)
    done = run(folder, "check", "orders:Order", "bad.ndjson", "--show", "0")
    assert done.stdout.startswith("3 records")


def test_convert_and_an_instance_with_workers(folder):
    done = run(folder, "convert", "orders:Order", "bad.ndjson", "out.csv")
    assert done.returncode == 1
    assert (folder / "out.csv").read_text() == "id,paid\n1,\n"
    pytest.importorskip("cloudpickle")
    (folder / "ids.csv").write_text("id\n7\n")
    done = run(folder, "convert", "orders:ready", "ids.csv", "out.json", "--workers", "2")
    assert done.returncode == 0, done.stderr
    assert json.loads((folder / "out.json").read_text()) == [{"id": 7}]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("orders:Order", "none.ndjson"), "none.ndjson: No such file"),
        (("orders:Nothing", "good.ndjson"), "has no attribute 'Nothing'"),
        (("orders:fields", "good.ndjson"), "is no schema"),
        (("orders:Order", "good.txt"), "its name does not say"),
    ],
)
def test_what_cannot_be_done(folder, words, said):
    done = run(folder, "check", *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_what_the_output_cannot_hold_is_escaped(folder):
    (folder / "odd.ndjson").write_text('{"id": 1, "\\ud800": 1}\n{"id": 2, "é": 1}\n')
    done = run(folder, "check", "orders:Order", "odd.ndjson", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (1, "")
    assert "\\ud800: Unknown field." in done.stdout
    assert "\\xe9: Unknown field." in done.stdout
