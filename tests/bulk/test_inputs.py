"""Packed files, CSV that convert has written, and files without records."""

import gzip
import json
import os
import tempfile

import pytest
from marshmallow import Schema, fields, pre_load, validate

from althaia import bulk
from tests.bulk import schemas


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
    source, made, back = (str(tmp_path / name) for name in ("a.ndjson", "a.csv", "b.ndjson"))
    with open(source, "w") as opened:
        opened.writelines(f"{json.dumps(each)}\n" for each in RECORDS)
    told = []
    assert bulk.convert(Everything, source, made, tell=told.append).good, told
    assert bulk.check(Everything, made, tell=told.append).good, told
    assert bulk.convert(Everything, made, back).good
    with open(back) as opened:
        first, second, third = map(json.loads, opened)
    assert first == RECORDS[0]
    assert second == {**RECORDS[1], "text": ""}
    assert third == {"needed": None, "maybe": None, "text": "", "short": None}


def test_a_required_field_says_what_is_wrong_with_an_empty_cell(tmp_path):
    class Needed(Schema):
        number = fields.Int(required=True)
        tags = fields.List(fields.Str())

    file = tmp_path / "a.csv"
    file.write_text("number,tags\n,[broken\n")
    told = []
    bulk.check(Needed, str(file), tell=told.append)
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
    assert bulk.check(Hooked, str(file)).good


@pytest.mark.parametrize("form", ["ndjson", "json", "csv", "parquet"])
@pytest.mark.parametrize("workers", [1, 2])
def test_packed_files(ndjson, tmp_path, monkeypatch, form, workers):
    if form == "parquet":
        pytest.importorskip("pyarrow")
    plain = ndjson
    if form != "ndjson":
        plain = tmp_path / f"made.{form}"
        assert bulk.convert(schemas.OrderSchema, str(ndjson), str(plain)).good
    packed = tmp_path / f"packed.{form}.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    plain.unlink()
    # Other tests run meanwhile and have copies of their own.
    (tmp_path / "copies").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "copies"))
    told = []
    summary = bulk.check(
        schemas.OrderSchema, str(packed), size=10_000, workers=workers, tell=told.append
    )
    # CSV gives the lines of an order as a text.
    assert summary.records == 500
    assert summary.good, told[:3]
    assert os.listdir(tmp_path / "copies") == [], "the unpacked copy is taken away"


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"id\n1\n", "Not a gzipped file"), (gzip.compress(b"id\n" * 99)[:-9], "no whole gzip file")],
    ids=["plain", "cut off"],
)
def test_a_file_that_is_not_packed(tmp_path, content, said):
    file = tmp_path / "a.csv.gz"
    file.write_bytes(content)
    with pytest.raises(bulk.BulkError, match=f"a.csv.gz: .*{said}"):
        bulk.check(schemas.OrderSchema, str(file))


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


def test_errors_name_the_file_and_not_its_copy(tmp_path):
    file = tmp_path / "a.csv.gz"
    file.write_bytes(gzip.compress(b"id,id\n1,1\n"))
    with pytest.raises(bulk.BulkError, match=r"a\.csv\.gz: more than one column is named 'id'"):
        bulk.check(schemas.OrderSchema, str(file))


@pytest.mark.skipif(not os.path.exists("/proc/version"), reason="there is no /proc here")
def test_a_file_whose_size_is_not_known_is_read():
    assert os.path.getsize("/proc/version") == 0
    told = []
    summary = bulk.check(schemas.OrderSchema, "/proc/version", form="ndjson", tell=told.append)
    assert (summary.records, summary.unreadable) == (1, 1)
    assert told[0].line == 1


def without_rows(tmp_path, form, *columns):
    """A file that has columns only."""
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
def test_columns_are_compared_where_no_record_follows(tmp_path, form):
    strange = without_rows(tmp_path, form, "id", "colour")
    with pytest.raises(bulk.BulkError, match="does not know: colour"):
        bulk.check(schemas.CellsSchema, [str(strange)])
    good = without_rows(tmp_path, form, "id")
    assert bulk.check(schemas.CellsSchema, [str(good)] * 2).records == 0


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize(("target", "wanted"), [("ndjson", b""), ("csv", b"id,text\n")])
def test_a_file_without_records_is_converted_to_one(tmp_path, form, target, wanted):
    source, made = without_rows(tmp_path, form, "id"), tmp_path / f"made.{target}"
    bulk.convert(schemas.CellsSchema, str(source), str(made))
    assert made.read_bytes() == wanted


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_columns_of_one_name_are_refused(tmp_path, form):
    double = without_rows(tmp_path, form, "id", "text", "id")
    with pytest.raises(bulk.BulkError, match="more than one column is named 'id'"):
        bulk.check(schemas.CellsSchema, [str(double)])
