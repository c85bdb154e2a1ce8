"""Files that have columns and no records, and columns of one name."""

from __future__ import annotations

import pytest

from althaia import bulk
from tests.bulk import schemas


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
