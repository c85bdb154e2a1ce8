"""Records, results and errors that a file has no room for: named, and no others lost."""

import datetime as dt
import json
from asyncio import CancelledError
from collections import ChainMap
from decimal import Decimal
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from marshmallow import (
    Schema,
    ValidationError,
    fields,
    post_dump,
    post_load,
    pre_dump,
    pre_load,
    validates_schema,
)

from althaia.bulk.pieces import BLOCK
from althaia.bulk.reading import partitions
from tests.bulk.conftest import checked, made, written
from tests.engine import HAS_ENGINE
from tests.redirect import processes


class Anything(Schema):
    a = fields.Raw()


class Table(Schema):
    d = fields.Dict(keys=fields.String(), values=fields.Integer())


class Bare(Schema):
    a = fields.Float()

    @pre_load
    def named(self, data, **kwargs):
        return {"a": data}


class Silent(Exception):
    def __str__(self):
        raise RuntimeError


class Failing(Schema):
    kind = fields.String()

    @validates_schema
    def fail(self, data, **kwargs):
        raised = {
            "key": ValidationError({("x", 1): ["m"], None: [object]}),
            "silent": Silent(),
            "exit": SystemExit(0),
            "cancelled": CancelledError(),
            "generator": GeneratorExit(),
            "none": None,
        }[data["kind"]]
        if raised:
            raise raised


class Point(NamedTuple):
    a: Any


class Loading(Schema):
    """Loads, or dumps, what its number stands for."""

    LOADED = (
        None, [], {}, (1,), 5, "a", True, iter(()), {1}, Decimal(1), dt.date(2020, 1, 2),
        Point(1), SimpleNamespace(a=1), ChainMap({"a": 1}), object(),
    )  # fmt: skip
    DUMPED = (None, [], 5, "a", {"a": 1})
    a = fields.Raw()

    @post_load
    def load_other(self, data, **kwargs):
        return Loading.LOADED[data["a"]] if self.context_of == "load" else data

    @post_dump
    def dump_other(self, data, **kwargs):
        return Loading.DUMPED[data["a"]] if self.context_of == "dump" else data

    context_of = "load"


class Dumping(Loading):
    context_of = "dump"


class Remaking(Loading):
    @pre_dump
    def remake(self, loaded, **kwargs):
        return {"a": str(loaded)}


@pytest.mark.parametrize("form", ["ndjson", "json", "csv"])
def test_what_is_loaded_or_dumped_and_no_record_is_named(tmp_path, form):
    for schema, count, wrong in (
        (Loading, len(Loading.LOADED), [1, 2, *range(4, 12), 15]),
        (Dumping, len(Loading.DUMPED), [1, 2, 3, 4]),
        # A hook may make a record of anything.
        (Remaking, len(Loading.LOADED), []),
    ):
        told, _ = made(schema, tmp_path, form, *({"a": i} for i in range(count)))
        assert all(one.errors.startswith("TypeError: ") for one in told)
        assert [one.line for one in told] == wrong, schema


def test_csv_takes_whole_characters(tmp_path):
    (half,), text = made(Anything, tmp_path, "csv", {"a": "\ud800"}, {"a": "é"})
    assert half.errors.startswith("UnicodeEncodeError")
    assert text == "a\né\n"


@pytest.mark.parametrize("form", ["ndjson", "json"])
def test_half_of_a_pair_of_surrogates_is_escaped(tmp_path, form):
    _, text = made(Anything, tmp_path, form, {"a": "\ud800"}, {"a": "é"})
    assert "\\ud800" in text
    assert "é" in text
    assert checked(Anything, tmp_path / f"out.{form}")[0].valid == 2


@pytest.mark.parametrize("keys", [("007", "7"), ("٣", "3"), ("9" * 5_000,)])
def test_keys_of_digits_are_told_as_they_are(tmp_path, keys):
    source = written(tmp_path / "in.ndjson", {"d": dict.fromkeys(keys, "x")}, {"d": {}})
    summary, told = checked(Table, source)
    assert summary.valid == 1
    assert list(told[0].errors["d"]) == list(keys)


def test_errors_of_the_schemas_own_stop_nobody(tmp_path):
    kinds = "key", "silent", "exit", "cancelled", "generator", "none", "other", "key"
    source = written(tmp_path / "in.ndjson", *({"kind": kind} for kind in kinds))
    bad = tmp_path / "bad.ndjson"
    summary, told = checked(Failing, source, errors_to=str(bad))
    assert (summary.invalid, summary.exceptions, summary.valid) == (2, 5, 1)
    assert [one.line for one in told] == [1, 2, 3, 4, 5, 7, 8]
    assert [one.errors for one in told[:6]] == [
        {"('x', 1)": ["m"], "None": [str(object)]},
        "Silent: Silent without a text: RuntimeError",
        "SystemExit: 0",
        "CancelledError: ",
        "GeneratorExit: ",
        "KeyError: 'other'",
    ]
    assert len(bad.read_text().splitlines()) == 7


@pytest.mark.parametrize("number", ["1.5", "1e5", "1e+5"])
@pytest.mark.parametrize("behind", [1, 2, 3])
def test_a_number_that_a_block_cuts(tmp_path, number, behind):
    file = tmp_path / "numbers.json"
    file.write_text("[1," + " " * (BLOCK - 3 - behind) + number + ",2]")
    assert [item for part in partitions(str(file), "json", 1) for item in part.content] == [
        (1, 1),
        (2, float(number)),
        (3, 2),
    ]
    assert checked(Bare, file)[0].valid == 3


class Deep(Schema):
    depth = fields.Integer()

    @validates_schema
    def fail(self, data, **kwargs):
        messages = ["found"]
        for i in range(data["depth"]):
            messages = [messages] if i % 2 else {"a": messages}
        raise ValidationError(messages)


# Interpreted code goes less deep itself: in this process marshmallow may be upstream's.


@pytest.mark.parametrize(
    ("workers", "deepest"), [(1, [200, 300]), (2, [900, 5_000] if HAS_ENGINE else [200, 300])]
)
def test_errors_far_down_are_cut_and_the_others_told(tmp_path, workers, deepest):
    depths, bad = [1, 97, 101, 150, *deepest], tmp_path / "bad.ndjson"
    source = written(tmp_path / "in.ndjson", *({"depth": depth} for depth in depths))
    summary, told = checked(Deep, source, errors_to=str(bad), workers=workers)
    assert (summary.records, summary.invalid) == (6, 6)
    texts = [json.dumps(one.errors) for one in told]
    assert ["found" in text for text in texts] == [True] * 2 + [False] * 4
    assert ["more than 100 levels" in text for text in texts] == [False] * 2 + [True] * 4
    assert len(bad.read_text().splitlines()) == 6


@pytest.mark.timeout(60)
def test_elements_too_deep_to_travel_are_done_here(tmp_path):
    """It runs in a program of its own, because it reads what is nearly as deep as the stack."""
    file = tmp_path / "deep.json"
    elements = ['{"a": ' + "[" * depth + "]" * depth + "}" for depth in range(930, 980, 3)]
    file.write_text('[{"b": 1}, ' + ",".join(elements) + "]")
    program = """
import sys
from althaia import bulk
from tests.bulk import test_odd_records
summary = bulk.check(test_odd_records.Anything, [sys.argv[1]], workers=2)
print(summary.invalid, summary.exceptions, summary.lost)
"""
    done = processes.run("-c", program, str(file), cwd=None, timeout=900)
    assert (done.stdout, done.stderr) == ("1 0 []\n", "")
