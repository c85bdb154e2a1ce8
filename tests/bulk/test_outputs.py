"""What is written: which values, to which files, how whole, and what is said if it cannot be."""

import csv
import datetime as dt
import json
import os
import stat
import subprocess
import sys
import uuid
from collections import OrderedDict
from decimal import Decimal

import pytest
from marshmallow import Schema, fields, post_dump

from althaia import bulk
from althaia.bulk.csv_files import MOST_IN_CELL
from tests.bulk import schemas


class Small(Schema):
    a = fields.Integer(required=True)
    b = fields.String()


@pytest.fixture
def source(tmp_path):
    file = tmp_path / "a.ndjson"
    file.write_text('{"a": 1}\n{"a": "x"}\n')
    return file


@pytest.mark.parametrize(
    ("name", "text"), [("x.ndjson", ""), ("x.csv", "a,b\n"), ("x.json", "[]"), ("x.pq", None)]
)
def test_no_records_make_a_file_of_parquet_with_columns(tmp_path, name, text):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    file, target = tmp_path / name, tmp_path / "out.parquet"
    columns = pyarrow.schema([("a", pyarrow.int64()), ("b", pyarrow.string())])
    if text is None:
        parquet.ParquetWriter(file, columns).close()
    else:
        file.write_text(text)
    assert bulk.convert(Small, str(file), str(target)).good
    found = parquet.read_table(target)
    assert found.num_rows == 0
    assert found.schema.equals(columns)


@pytest.mark.parametrize("text", ["x\ry", "x\ny", "x\r\ny", "\r", 'x"\r'])
def test_breaks_in_cells_are_quoted(tmp_path, text):
    source, target = tmp_path / "a.json", tmp_path / "out.csv"
    source.write_text(f"[{Small().dumps({'a': 1, 'b': text})}]")
    assert bulk.convert(Small, str(source), str(target)).good
    with target.open(newline="") as opened:
        assert list(csv.reader(opened)) == [["a", "b"], ["1", text]]
    assert target.read_bytes().startswith(b"a,b\n1,")
    assert target.read_bytes().endswith(b'"\n')
    assert bulk.check(Small, [str(target)]).valid == 1


def test_a_link_is_followed_and_permissions_stay(source, tmp_path):
    real, link = tmp_path / "real.ndjson", tmp_path / "link.ndjson"
    real.write_text("before")
    real.chmod(0o640)
    link.symlink_to(real)
    bulk.convert(Small, str(source), str(link))
    assert link.is_symlink()
    assert real.read_text() == '{"a": 1}\n'
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    fresh = tmp_path / "fresh.ndjson"
    bulk.convert(Small, str(source), str(fresh))
    (tmp_path / "as usual").touch()
    assert fresh.stat().st_mode == (tmp_path / "as usual").stat().st_mode


def test_a_pipe_is_not_replaced(source, tmp_path):
    target = tmp_path / "out.ndjson"
    os.mkfifo(target)
    with pytest.raises(bulk.BulkError, match=r"out\.ndjson: is no regular file"):
        bulk.convert(Small, str(source), str(target))
    assert target.is_fifo()
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.ndjson", "out.ndjson"]


@pytest.mark.parametrize("link", [False, True])
def test_the_file_of_errors_is_no_other(source, tmp_path, link):
    before, name = source.read_text(), str(source)
    if link:
        name = str(tmp_path / "other.ndjson")
        os.link(source, name)
    with pytest.raises(bulk.BulkError, match=r"is also read, as .*a\.ndjson: name another file"):
        bulk.check(Small, [str(source)], errors_to=name)
    target = str(tmp_path / "out.ndjson")
    with pytest.raises(bulk.BulkError, match=r"is also written, as .*: name another file"):
        bulk.convert(Small, str(source), target, errors_to=target)
    assert source.read_text() == before
    assert not (tmp_path / "out.ndjson").exists()


@pytest.mark.parametrize("link", [False, True])
def test_a_file_is_not_converted_onto_itself(source, tmp_path, link):
    before, name = source.read_text(), source
    if link:
        name = tmp_path / "other.ndjson"
        name.symlink_to(source)
    with pytest.raises(bulk.BulkError, match="is also read, as "):
        bulk.convert(Small, str(source), str(name))
    assert source.read_text() == before


def test_what_is_not_whole_yet_takes_nobodys_name(source, tmp_path):
    part = tmp_path / "out.ndjson.part"
    source.rename(part)
    bulk.convert(Small, str(part), str(tmp_path / "out.ndjson"), form="ndjson")
    assert (tmp_path / "out.ndjson").read_text() == '{"a": 1}\n'
    assert part.read_text() == '{"a": 1}\n{"a": "x"}\n'
    bad = tmp_path / "again.ndjson.part"
    bulk.convert(
        Small, str(part), str(tmp_path / "again.ndjson"), form="ndjson", errors_to=str(bad)
    )
    assert (tmp_path / "again.ndjson").read_text() == '{"a": 1}\n'
    assert "Not a valid integer" in bad.read_text()


@pytest.mark.parametrize("form", ["ndjson", "csv", "json", "parquet"])
def test_a_disk_that_is_full(ndjson, tmp_path, form):
    """A limit of the file's size stands for the end of the disk."""
    resource = pytest.importorskip("resource")
    if form == "parquet":
        pytest.importorskip("pyarrow")
    target = tmp_path / f"out.{form}"
    done = subprocess.run(
        [sys.executable, "-m", "althaia", "convert",
         f"{schemas.__name__}:OrderSchema", str(ndjson), str(target)],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4_000, 4_000)),
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert f"out.{form}: cannot be written: File too large" in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.glob("out.*")) == []


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="this system has no /dev/stdout")
def test_a_file_that_is_printed_to_is_not_written_twice(source, tmp_path):
    printed = tmp_path / "printed"
    printed.write_text("before\n")
    command = [sys.executable, "-m", "althaia", "check", "tests.bulk.test_outputs:Small"]
    with printed.open("a") as opened:
        done = subprocess.run(
            [*command, str(source), "--errors-to", "/dev/stdout"],
            stdout=opened, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert "is also written, as /dev/stdout: name another file" in done.stderr
    assert printed.read_text() == "before\n"


@pytest.mark.parametrize("letter", ["x", "é"])
def test_names_as_long_as_names_may_be(source, tmp_path, letter):
    name = letter * (248 // len(letter.encode())) + ".ndjson"
    bulk.convert(Small, str(source), str(tmp_path / name))
    assert (tmp_path / name).read_text() == '{"a": 1}\n'
    with pytest.raises(bulk.BulkError, match="cannot be written: File name too long"):
        bulk.convert(Small, str(source), str(tmp_path / f"x{name}"))
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")
@pytest.mark.parametrize(("before", "meanwhile"), [(0o600, 0o600), (0o640, 0o640), (None, 0o644)])
def test_who_may_read_an_unfinished_file(tmp_path, before, meanwhile):
    seen = set()

    class Looking(Schema):
        a = fields.Method(deserialize="look")

        def look(self, value):
            (part,) = tmp_path.glob("*.part")
            seen.add(stat.S_IMODE(part.stat().st_mode))
            return value

    source, target = tmp_path / "in.ndjson", tmp_path / "out.ndjson"
    source.write_text('{"a": 1}\n')
    if before is not None:
        target.touch()
        target.chmod(before)
    umask = os.umask(0o022)
    try:
        bulk.convert(Looking, str(source), str(target))
    finally:
        os.umask(umask)
    assert seen == {meanwhile}
    assert stat.S_IMODE(target.stat().st_mode) == meanwhile


class Enveloped(Schema):
    a = fields.Integer()
    b = fields.Integer(data_key="B")

    @post_dump
    def envelope(self, data, **kwargs):
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
    told = []
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
    rates = [1.5, float("nan"), [float("inf")], 2]
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
