"""Packed files, CSV that convert has written, and files without records."""

import gzip
import json
import os
import tempfile

import pytest
from marshmallow import Schema, fields, pre_load, validate

from althaia import bulk
from tests.bulk import schemas
from tests.bulk.conftest import checked, converted, lines, written


class Part(Schema):
    name = fields.Str()


class Everything(Schema):
    number = fields.Int()
    maybe = fields.Float(allow_none=True)
    needed = fields.Date(required=True, allow_none=True)
    price = fields.Decimal(as_string=True)
    at = fields.DateTime()
    seconds = fields.TimeDelta()
    ok = fields.Bool()
    text = fields.Str(allow_none=True)
    short = fields.Str(allow_none=True, validate=validate.Length(min=1))
    mail = fields.Email()
    key = fields.UUID(data_key="Key")
    tags = fields.List(fields.Str())
    pair = fields.Tuple((fields.Int(), fields.Str()))
    by_name = fields.Dict(values=fields.Float())
    part = fields.Nested(Part)
    parts = fields.Nested(Part, many=True)
    names = fields.Pluck(Part, "name", many=True)


RECORDS = [
    {
        "number": 1,
        "maybe": 1.5,
        "needed": "2024-02-29",
        "price": "1.50",
        "at": "2024-02-29T10:00:00",
        "seconds": 5,
        "ok": False,
        "text": 'a, "b"',
        "short": "x",
        "mail": "a@example.com",
        "Key": "00000000-0000-0000-0000-000000000001",
        "tags": ["x,y", "z"],
        "pair": [1, "a"],
        "by_name": {"a": 1.0},
        "part": {"name": "n"},
        "parts": [{"name": "n"}, {}],
        "names": ["n"],
    },
    {"needed": None, "maybe": None, "text": "", "short": None, "tags": []},
    {"needed": None},
]


def test_csv_that_was_written_passes_the_check(tmp_path):
    source, made, back = (tmp_path / name for name in ("a.ndjson", "a.csv", "b.ndjson"))
    assert converted(Everything, written(source, *RECORDS), made)[1] == []
    assert checked(Everything, made)[1] == []
    assert converted(Everything, made, back)[0].good
    assert lines(back) == [
        RECORDS[0],
        {**RECORDS[1], "text": ""},
        {"needed": None, "maybe": None, "text": "", "short": None},
    ]


def test_a_required_field_says_what_is_wrong_with_an_empty_cell(tmp_path):
    class Needed(Schema):
        number = fields.Int(required=True)
        tags = fields.List(fields.Str())

    (tmp_path / "a.csv").write_text("number,tags\n,[broken\n")
    _, told = checked(Needed, tmp_path / "a.csv")
    assert told[0].errors == {"number": ["Not a valid integer."], "tags": ["Not a valid list."]}


def test_a_hook_is_given_the_cells_as_they_are(tmp_path):
    class Hooked(Schema):
        number = fields.Int(allow_none=True)
        tags = fields.List(fields.Str())

        @pre_load
        def read(self, data, **kwargs):
            assert data == {"number": "", "tags": '["a"]'}
            return {"number": None, "tags": json.loads(data["tags"])}

    file = tmp_path / "a.csv"
    file.write_text('number,tags\n,"[""a""]"\n')
    assert checked(Hooked, file)[0].good


@pytest.mark.parametrize("form", ["ndjson", "json", "csv", "parquet"])
@pytest.mark.parametrize("workers", [1, 2])
def test_packed_files(ndjson, tmp_path, monkeypatch, form, workers):
    if form == "parquet":
        pytest.importorskip("pyarrow")
    plain, packed = tmp_path / f"made.{form}", tmp_path / f"packed.{form}.gz"
    assert converted(schemas.OrderSchema, ndjson, plain)[0].good
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    plain.unlink()
    # Other tests run meanwhile and have copies of their own.
    (tmp_path / "copies").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "copies"))
    summary, told = checked(schemas.OrderSchema, packed, size=10_000, workers=workers)
    # CSV gives the lines of an order as a text.
    assert summary.records == 500
    assert told == []
    assert os.listdir(tmp_path / "copies") == [], "the unpacked copy is taken away"


PACKED = {
    "plain": (b"id\n1\n", "Not a gzipped file"),
    "cut off": (gzip.compress(b"id\n" * 99)[:-9], "no whole gzip file"),
    "two columns": (gzip.compress(b"id,id\n1,1\n"), "more than one column is named 'id'"),
}


@pytest.mark.parametrize(("content", "said"), PACKED.values(), ids=PACKED)
def test_errors_name_the_packed_file_and_not_its_copy(tmp_path, content, said):
    file = tmp_path / "a.csv.gz"
    file.write_bytes(content)
    with pytest.raises(bulk.BulkError, match=f"a.csv.gz: .*{said}"):
        checked(schemas.OrderSchema, file)


@pytest.mark.slow
@pytest.mark.parametrize("most", [None, 2**20, 2**28])
def test_a_packed_file_that_becomes_too_large(tmp_path, most):
    file = tmp_path / "a.ndjson.gz"
    file.write_bytes(gzip.compress(b" " * 2**27))
    if most == 2**28:
        assert bulk.check(Part, str(file), most_unpacked=most).records == 0
        return
    with pytest.raises(bulk.BulkError, match=r"larger than [\d,]+ bytes .*--most-unpacked"):
        bulk.check(Part, str(file), most_unpacked=most)


@pytest.mark.skipif(not os.path.exists("/proc/version"), reason="there is no /proc here")
def test_a_file_whose_size_is_not_known_is_read():
    assert os.path.getsize("/proc/version") == 0
    summary, told = checked(schemas.OrderSchema, "/proc/version", form="ndjson")
    assert (summary.records, summary.unreadable, told[0].line) == (1, 1, 1)


def without_rows(tmp_path, form, *columns):
    made = tmp_path / f"empty.{form}"
    if form == "csv":
        made.write_text(",".join(columns))
    else:
        pyarrow = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        text = pyarrow.string()
        parquet.ParquetWriter(made, pyarrow.schema([(name, text) for name in columns])).close()
        assert parquet.ParquetFile(made).num_row_groups == 0
    return made


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_files_without_records(tmp_path, form):
    for columns, said in (
        (("id", "colour"), "does not know: colour"),
        (("id", "text", "id"), "more than one column is named 'id'"),
    ):
        with pytest.raises(bulk.BulkError, match=said):
            checked(schemas.CellsSchema, without_rows(tmp_path, form, *columns))
    good = without_rows(tmp_path, form, "id")
    assert checked(schemas.CellsSchema, good, good)[0].records == 0
    for target, wanted in (("ndjson", b""), ("csv", b"id,text\n")):
        converted(schemas.CellsSchema, good, tmp_path / f"made.{target}")
        assert (tmp_path / f"made.{target}").read_bytes() == wanted
