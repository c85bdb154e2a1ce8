"""What a result is written as in JSON and in CSV, and which have no room there."""

from __future__ import annotations

import datetime as dt
import json
import uuid
from collections import OrderedDict
from decimal import Decimal
from typing import Any

import pytest
from marshmallow import Schema, fields, post_dump

from althaia import bulk
from althaia.bulk.csv_files import MOST_IN_CELL


class Enveloped(Schema):
    a = fields.Integer()
    b = fields.Integer(data_key="B")

    @post_dump
    def envelope(self, data: Any, **kwargs: Any) -> Any:
        return {"data": data, 5: None} if data.get("a") == 0 else data


class Pair(Schema):
    t = fields.Tuple((fields.Integer(), fields.String()))


class Given(Schema):
    """Dumps the value that its number stands for."""

    VALUES = (
        "a", 1, 1.5, True, None, Decimal("1.50"), dt.date(2020, 1, 2), dt.time(3, 4),
        [1, "é"], (1, "é"), {"é": 1}, OrderedDict({"é": 1}),
        {1, 2}, b"x", uuid.UUID(int=1), [b"x"], [float("nan")],
    )  # fmt: skip
    v = fields.Function(lambda given: Given.VALUES[given["v"]], lambda value: value)


class Rated(Schema):
    rate = fields.Raw()


def converted(schema, tmp_path, form, *records):
    source, target = tmp_path / "in.ndjson", tmp_path / f"out.{form}"
    source.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    told: list[bulk.Problem] = []
    bulk.convert(schema, str(source), str(target), tell=told.append)
    return [(one.line, one.kind, one.errors) for one in told], target.read_text()


def test_csv_says_which_keys_have_no_column(tmp_path):
    told, text = converted(Enveloped, tmp_path, "csv", {"a": 1, "B": 2}, {"a": 0}, {"B": 3})
    assert told == [(2, "exception", "TypeError: CSV has no column for 5, data")]
    assert text == "a,B\n1,2\n,3\n"


def test_tuples_are_json_in_csv(tmp_path):
    told, text = converted(Pair, tmp_path, "csv", {"t": [1, "x"]})
    assert told == []
    assert text == 't\n"[1, ""x""]"\n'


def test_cells_of_csv(tmp_path):
    told, text = converted(Given, tmp_path, "csv", *({"v": i} for i in range(17)))
    listed, mapped = '"[1, ""é""]"', '"{""é"": 1}"'
    assert text.splitlines() == [
        "v", "a", "1", "1.5", "true", '""', "1.50", "2020-01-02", "03:04:00",
        listed, listed, mapped, mapped,
    ]  # fmt: skip
    assert [line for line, _, _ in told] == [13, 14, 15, 16, 17]
    assert [errors for _, _, errors in told[:3]] == [
        f"TypeError: a cell of CSV has no form for {name}" for name in ("set", "bytes", "UUID")
    ]
    assert told[3][2].startswith("TypeError: Object of type bytes is not JSON")
    assert told[4][2].startswith("ValueError: Out of range float values are not JSON")


@pytest.mark.parametrize("form", ["ndjson", "json"])
def test_numbers_that_json_lacks_are_not_written(tmp_path, form):
    rates: list[Any] = [1.5, float("nan"), [float("inf")], 2]
    told, text = converted(Rated, tmp_path, form, *({"rate": rate} for rate in rates))
    assert [(line, kind) for line, kind, _ in told] == [(2, "exception"), (3, "exception")]
    assert told[0][2].startswith("ValueError: Out of range float values are not JSON")
    assert [part in text for part in ("1.5", "NaN", "Infinity", "2")] == [True, False, False, True]


def test_a_cell_that_nobody_would_read_is_not_written(tmp_path):
    for length, wanted in ((MOST_IN_CELL, []), (MOST_IN_CELL + 1, [1])):
        told, _ = converted(Rated, tmp_path, "csv", {"rate": "x" * length})
        assert [line for line, _, _ in told] == wanted
        assert bulk.check(Rated, [str(tmp_path / "out.csv")]).good


def test_a_line_of_csv_needs_columns(tmp_path):
    with pytest.raises(bulk.BulkError, match="Schema has no fields that are dumped"):
        converted(Schema(unknown="include"), tmp_path, "csv", {"a": 1})
