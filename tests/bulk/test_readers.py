"""Files that are not what they were, or hold more in one piece than expected: nothing is lost."""

from __future__ import annotations

import os

import pytest

from althaia import bulk
from althaia.bulk.reading import items, partitions
from tests.bulk import schemas

RECORDS = {
    "ndjson": b"".join(b'{"id": %d}\n' % i for i in range(100, 200)),
    "csv": b"id\n" + b"".join(b"%d\n" % i for i in range(100, 200)),
}


@pytest.fixture(params=RECORDS)
def file(request, tmp_path):
    made = tmp_path / f"x.{request.param}"
    made.write_bytes(RECORDS[request.param])
    return made


@pytest.mark.parametrize("size", [50, 10**6])
@pytest.mark.parametrize("kept", [0, 250, 251])
def test_a_partition_that_is_not_all_there_is_refused(file, size, kept):
    found = list(partitions(str(file), file.suffix[1:], size))
    os.truncate(file, kept)
    for partition in found:
        if partition.end > kept:
            with pytest.raises(bulk.BulkError, match=r"x\.\w+: became shorter while"):
                list(items(partition))
        else:
            assert list(items(partition))


def test_a_file_that_becomes_shorter_behind_what_was_read_is_refused(file):
    def cut(*_):
        os.truncate(file, 100)

    with pytest.raises(bulk.BulkError, match="became shorter"):
        bulk.check(schemas.CellsSchema, [str(file)], size=50, watch=cut)


def test_a_file_that_is_taken_away_is_named(file):
    (partition,) = partitions(str(file), file.suffix[1:])
    file.unlink()
    with pytest.raises(bulk.BulkError, match=r"x\.\w+: No such file or directory"):
        list(items(partition))


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
