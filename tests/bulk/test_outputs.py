"""What is written: which values, to which files, how whole, and what is said if it cannot be."""

import csv
import datetime as dt
import json
import os
import stat
import uuid
from collections import OrderedDict
from decimal import Decimal

import pytest
from marshmallow import Schema, fields, post_dump

from althaia import bulk
from althaia.bulk.csv_files import MOST_IN_CELL
from tests.bulk import schemas
from tests.bulk.conftest import checked, converted, made, written
from tests.redirect import processes


class Small(Schema):
    a = fields.Integer(required=True)
    b = fields.String()


@pytest.fixture
def source(tmp_path):
    return written(tmp_path / "a.ndjson", {"a": 1}, {"a": "x"})


@pytest.mark.parametrize(
    ("name", "text"), [("x.ndjson", ""), ("x.csv", "a,b\n"), ("x.json", "[]"), ("x.pq", None)]
)
def test_no_records_make_a_file_of_parquet_with_columns(tmp_path, name, text):
    pyarrow, parquet = map(pytest.importorskip, ("pyarrow", "pyarrow.parquet"))
    file, target = tmp_path / name, tmp_path / "out.parquet"
    columns = pyarrow.schema([("a", pyarrow.int64()), ("b", pyarrow.string())])
    if text is None:
        parquet.ParquetWriter(file, columns).close()
    else:
        file.write_text(text)
    assert converted(Small, file, target)[0].good
    found = parquet.read_table(target)
    assert (found.num_rows, found.schema) == (0, columns)


@pytest.mark.parametrize("text", ["x\ry", "x\ny", "x\r\ny", "\r", 'x"\r'])
def test_breaks_in_cells_are_quoted(tmp_path, text):
    target = tmp_path / "out.csv"
    assert converted(Small, written(tmp_path / "a.ndjson", {"a": 1, "b": text}), target)[0].good
    with target.open(newline="") as opened:
        assert list(csv.reader(opened)) == [["a", "b"], ["1", text]]
    assert target.read_bytes().startswith(b"a,b\n1,")
    assert target.read_bytes().endswith(b'"\n')
    assert checked(Small, target)[0].valid == 1


def test_a_link_is_followed_and_permissions_stay(source, tmp_path):
    real, link, fresh = (tmp_path / f"{name}.ndjson" for name in ("real", "link", "fresh"))
    real.write_text("before")
    real.chmod(0o640)
    link.symlink_to(real)
    converted(Small, source, link)
    assert link.is_symlink()
    assert real.read_text() == '{"a": 1}\n'
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    converted(Small, source, fresh)
    (tmp_path / "as usual").touch()
    assert fresh.stat().st_mode == (tmp_path / "as usual").stat().st_mode


def test_a_pipe_is_not_replaced(source, tmp_path):
    target = tmp_path / "out.ndjson"
    os.mkfifo(target)
    with pytest.raises(bulk.BulkError, match=r"out\.ndjson: is no regular file"):
        converted(Small, source, target)
    assert target.is_fifo()
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.ndjson", "out.ndjson"]


@pytest.mark.parametrize("link", [None, os.link, os.symlink])
def test_no_file_is_read_and_written(source, tmp_path, link):
    before, name, target = source.read_text(), source, tmp_path / "out.ndjson"
    if link:
        name = tmp_path / "other.ndjson"
        link(source, name)
    with pytest.raises(bulk.BulkError, match=r"is also read, as .*a\.ndjson: name another file"):
        checked(Small, source, errors_to=str(name))
    with pytest.raises(bulk.BulkError, match="is also read, as "):
        converted(Small, source, name)
    with pytest.raises(bulk.BulkError, match=r"is also written, as .*: name another file"):
        converted(Small, source, target, errors_to=str(target))
    assert source.read_text() == before
    assert not target.exists()


def test_what_is_not_whole_yet_takes_nobodys_name(source, tmp_path):
    part, out, again = (tmp_path / name for name in ("out.ndjson.part", "out.ndjson", "b.ndjson"))
    source.rename(part)
    converted(Small, part, out, form="ndjson")
    assert out.read_text() == '{"a": 1}\n'
    assert part.read_text() == '{"a": 1}\n{"a": "x"}\n'
    bad = tmp_path / "b.ndjson.part"
    converted(Small, part, again, form="ndjson", errors_to=str(bad))
    assert again.read_text() == '{"a": 1}\n'
    assert "Not a valid integer" in bad.read_text()


@pytest.mark.parametrize("form", ["ndjson", "csv", "json", "parquet"])
def test_a_disk_that_is_full(ndjson, tmp_path, form):
    """A limit of the file's size stands for the end of the disk."""
    resource = pytest.importorskip("resource")
    if form == "parquet":
        pytest.importorskip("pyarrow")
    words = (f"{schemas.__name__}:OrderSchema", str(ndjson), str(tmp_path / f"out.{form}"))
    done = processes.run(
        "-m", "althaia", "convert", *words, cwd=None, env={"PYTHONDONTWRITEBYTECODE": "1"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4_000, 4_000)),
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert f"out.{form}: cannot be written: File too large" in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.glob("out.*")) == []


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="this system has no /dev/stdout")
def test_a_file_that_is_printed_to_is_not_written_twice(source, tmp_path):
    printed = tmp_path / "printed"
    printed.write_text("before\n")
    words = ("check", "tests.bulk.test_outputs:Small", str(source), "--errors-to", "/dev/stdout")
    with printed.open("a") as opened:
        done = processes.run("-m", "althaia", *words, cwd=None, stdout=opened)
    assert done.returncode == 2
    assert "is also written, as /dev/stdout: name another file" in done.stderr
    assert printed.read_text() == "before\n"


@pytest.mark.parametrize("letter", ["x", "é"])
def test_names_as_long_as_names_may_be(source, tmp_path, letter):
    name = letter * (248 // len(letter.encode())) + ".ndjson"
    converted(Small, source, tmp_path / name)
    assert (tmp_path / name).read_text() == '{"a": 1}\n'
    with pytest.raises(bulk.BulkError, match="cannot be written: File name too long"):
        converted(Small, source, tmp_path / f"x{name}")
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

    source, target = written(tmp_path / "in.ndjson", {"a": 1}), tmp_path / "out.ndjson"
    if before is not None:
        target.touch()
        target.chmod(before)
    umask = os.umask(0o022)
    try:
        converted(Looking, source, target)
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


class Given(Schema):
    VALUES = (
        "a", 1, 1.5, True, None, Decimal("1.50"), dt.date(2020, 1, 2), dt.time(3, 4),
        [1, "é"], (1, "é"), {"é": 1}, OrderedDict({"é": 1}),
        {1, 2}, b"x", uuid.UUID(int=1), [b"x"], [float("nan")],
    )  # fmt: skip
    v = fields.Function(lambda given: Given.VALUES[given["v"]], lambda value: value)


class Rated(Schema):
    rate = fields.Raw()


def test_csv_says_which_keys_have_no_column(tmp_path):
    (told,), text = made(Enveloped, tmp_path, "csv", {"a": 1, "B": 2}, {"a": 0}, {"B": 3})
    assert (told.line, told.kind) == (2, "exception")
    assert told.errors == "TypeError: CSV has no column for 5, data"
    assert text == "a,B\n1,2\n,3\n"


def test_cells_of_csv(tmp_path):
    told, text = made(Given, tmp_path, "csv", *({"v": i} for i in range(17)))
    listed, mapped = '"[1, ""é""]"', '"{""é"": 1}"'
    assert text.splitlines() == [
        "v", "a", "1", "1.5", "true", '""', "1.50", "2020-01-02", "03:04:00",
        listed, listed, mapped, mapped,
    ]  # fmt: skip
    assert [one.line for one in told] == [13, 14, 15, 16, 17]
    formless = [f"TypeError: a cell of CSV has no form for {n}" for n in ("set", "bytes", "UUID")]
    assert [one.errors for one in told[:3]] == formless
    assert told[3].errors.startswith("TypeError: Object of type bytes is not JSON")
    assert told[4].errors.startswith("ValueError: Out of range float values are not JSON")


@pytest.mark.parametrize("form", ["ndjson", "json"])
def test_what_json_has_no_form_for_is_named_and_the_others_are_written(tmp_path, form):
    told, text = made(Given, tmp_path, form, *({"v": i} for i in range(17)))
    assert [(one.line, one.kind) for one in told] == [
        (line, "exception") for line in (6, 7, 8, 13, 14, 15, 16, 17)
    ]
    assert told[0].errors == "TypeError: Object of type Decimal is not JSON serializable"
    assert told[-1].errors.startswith("ValueError: Out of range float values are not JSON")
    listed, mapped = [1, "é"], {"é": 1}
    assert [json.loads(line.rstrip(","))["v"] for line in text.splitlines() if "v" in line] == [
        "a", 1, 1.5, True, None, listed, listed, mapped, mapped,
    ]  # fmt: skip
    assert form == "ndjson" or len(json.loads(text)) == 9


def test_a_cell_that_nobody_would_read_is_not_written(tmp_path):
    for length, wanted in ((MOST_IN_CELL, []), (MOST_IN_CELL + 1, [1])):
        told, _ = made(Rated, tmp_path, "csv", {"rate": "x" * length})
        assert [one.line for one in told] == wanted
        assert checked(Rated, tmp_path / "out.csv")[0].good


def test_a_line_of_csv_needs_columns(tmp_path):
    with pytest.raises(bulk.BulkError, match="Schema has no fields that are dumped"):
        made(Schema(unknown="include"), tmp_path, "csv", {"a": 1})
