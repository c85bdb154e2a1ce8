"""Checking and converting: here, in processes, on a Dask cluster; the same everywhere."""

import csv
import itertools
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from multiprocessing.context import SpawnProcess

import pytest

from althaia import bulk
from althaia.bulk import executors
from althaia.bulk.reading import PARTITION_BYTES
from althaia.bulk.task import _unpacked
from tests.bulk import schemas
from tests.bulk.conftest import checked, converted, lines, order, written
from tests.interpreters import sees_ignored_signals, sends_by_value
from tests.redirect import processes

signals = pytest.mark.skipif(sys.platform == "win32", reason="signals of its own")
SMALL = 10_000
"""Bytes in a partition: several of them for the orders of these tests."""


def test_problems_by_line_and_together(ndjson, tmp_path):
    text = ndjson.read_text().splitlines()
    text[6] = json.dumps(order(7) | {"id": "x", "lines": [{"position": "y"}, {}]})
    text[400], text[450] = "{", "[]"
    ndjson.write_text("\n".join(text))
    bad = tmp_path / "bad.ndjson"
    summary, told = checked(schemas.OrderSchema, ndjson, size=SMALL, errors_to=str(bad))
    assert (summary.records, summary.valid) == (500, 497)
    assert (summary.invalid, summary.unreadable, summary.good) == (2, 1, False)
    kinds = [(7, "invalid"), (401, "unreadable"), (451, "invalid")]
    assert [(problem.line, problem.kind) for problem in told] == kinds
    missing = {"position": ["Missing data for required field."]}
    assert told[0].errors == {
        "id": ["Not a valid integer."],
        "lines": {0: {"position": ["Not a valid integer."]}, 1: missing},
    }
    assert summary.messages["lines.*.position: Not a valid integer."] == 1
    assert summary.messages["_schema: Invalid input type."] == 1
    assert [one["line"] for one in lines(bad)] == [7, 401, 451]
    assert lines(bad)[0]["errors"]["lines"]["1"] == missing


@pytest.mark.parametrize("form", ["ndjson", "json", "csv", "parquet"])
def test_there_and_back(ndjson, orders, tmp_path, form):
    if form == "parquet":
        pytest.importorskip("pyarrow")
    target, back = tmp_path / f"made.{form}", tmp_path / "back.ndjson"
    summary, _ = converted(schemas.OrderSchema, ndjson, target, size=SMALL)
    assert (summary.valid, summary.good) == (500, True)
    if form == "csv":
        # Nested values are JSON in a cell, which a schema of flat cells would load.
        with target.open(newline="") as opened:
            rows = list(csv.DictReader(opened))
        assert [int(row["id"]) for row in rows] == list(range(1, 501))
        assert json.loads(rows[0]["lines"]) == orders[0]["lines"]
        return
    converted(schemas.OrderSchema, target, back, size=SMALL)
    assert lines(back) == orders
    if form == "json":
        assert json.loads(target.read_text()) == orders


def test_parquet_has_types_and_no_two_parts_differ(ndjson, tmp_path):
    pyarrow, parquet = map(pytest.importorskip, ("pyarrow", "pyarrow.parquet"))
    converted(schemas.OrderSchema, ndjson, tmp_path / "orders.parquet", size=SMALL)
    with parquet.ParquetFile(tmp_path / "orders.parquet") as found:
        types = {column.name: column.type for column in found.schema_arrow}
        assert found.num_row_groups > 5
    assert types["id"] == pyarrow.int64()
    assert types["at"] == pyarrow.timestamp("us", tz="UTC")
    assert types["day"] == pyarrow.date32()
    assert types["lines"].value_type.field("price").type == pyarrow.decimal128(38, 2)


def test_parquet_with_other_columns_is_refused_by_name(tmp_path):
    pyarrow, parquet = map(pytest.importorskip, ("pyarrow", "pyarrow.parquet"))
    file = tmp_path / "x.parquet"
    parquet.write_table(pyarrow.table({"name": ["a"], "colour": ["b"]}), file)
    with pytest.raises(bulk.BulkError, match="requires: id"):
        checked(schemas.OrderSchema(unknown="exclude"), file)
    file.write_bytes(file.read_bytes()[:-5])
    with pytest.raises(bulk.BulkError, match="cannot be read as Parquet"):
        checked(schemas.OrderSchema, file)


def test_columns_are_not_compared_where_a_hook_renames_them(tmp_path):
    file = tmp_path / "x.csv"
    file.write_text("ID,Text\n1,a\n")
    with pytest.raises(bulk.BulkError, match="ID, Text"):
        checked(schemas.CellsSchema, file)
    assert checked(schemas.RenamedSchema, file)[0].good
    assert bulk.check(schemas.RenamedSchema, str(file)).valid == 1


EMPTY = {"field": {"text": ""}, "text": {"text": ""}, "missing": {}, "null": {"text": None}}


@pytest.mark.parametrize("empty", EMPTY)
def test_what_an_empty_cell_means(tmp_path, empty):
    source, target = tmp_path / "x.csv", tmp_path / "x.ndjson"
    source.write_text("id,text\n1,\n")
    converted(schemas.CellsSchema, source, target, empty=empty)
    assert lines(target) == [{"id": 1, **EMPTY[empty]}]
    source.write_text('id,lines\n7,"[{""position"": 1}]"\n')
    assert converted(schemas.OrderSchema, source, target, empty=empty)[0].good
    assert lines(target) == [{"id": 7, "lines": [{"position": 1}]}]


def test_a_target_is_whole_or_not_there(ndjson, tmp_path):
    target = tmp_path / "out.json"
    target.write_text("before")

    def stop(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        converted(schemas.OrderSchema, ndjson, target, size=SMALL, watch=stop)
    assert target.read_text() == "before"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["orders.ndjson", "out.json"]


@pytest.mark.parametrize("form", ["ndjson", "json"])
def test_processes_give_what_one_gives(ndjson, tmp_path, form):
    source, one, two = (tmp_path / name for name in (f"source.{form}", "1.ndjson", "2.ndjson"))
    converted(schemas.OrderSchema, ndjson, source)
    converted(schemas.OrderSchema, source, one, size=SMALL)
    converted(schemas.OrderSchema, source, two, size=SMALL, workers=2)
    assert one.read_bytes() == two.read_bytes()


def test_workers_run_the_compiled_copy_whatever_this_process_runs(tmp_path):
    source, target = written(tmp_path / "x.ndjson", {"id": 1}), tmp_path / "y.ndjson"
    converted(schemas.WhichSchema, source, target, workers=2)
    assert lines(target) == [{"id": 1}]


class Killing(schemas.KillingSchema):
    class Meta:
        unknown = "exclude"


@pytest.mark.parametrize("schema", [Killing, schemas.KillingWhileSendingSchema])
def test_a_process_that_dies_once_costs_nothing(tmp_path, monkeypatch, schema):
    """While it loads, or while it sends its result."""
    records = ({"id": i, "text": "y" * 10_000} for i in range(40))
    file, target = written(tmp_path / "x.ndjson", *records), tmp_path / "y.ndjson"
    monkeypatch.setenv("TEST_KILL_ONCE", str(tmp_path / "killed"))
    summary, _ = converted(schema, file, target, workers=2, size=100_000)
    assert (tmp_path / "killed").exists()
    assert summary.good
    assert [one["id"] for one in lines(target)] == list(range(40))


def test_a_partition_that_kills_everybody_is_named_and_the_others_are_done(tmp_path):
    deadly = written(tmp_path / "x.ndjson", *({"id": i, "x": "y" * 90} for i in range(40)))
    summary, _ = checked(Killing, deadly, workers=2, size=500)
    (lost,) = summary.lost
    assert "x.ndjson, from line" in lost
    assert "died: 3 times" in lost
    assert not summary.good
    assert 30 <= summary.records < 40
    with pytest.raises(bulk.BulkError, match="was not written, parts of it are missing"):
        converted(Killing, deadly, tmp_path / "y.ndjson", workers=2, size=500)
    assert not (tmp_path / "y.ndjson").exists()


def test_options_that_mean_nothing(ndjson):
    for options, said in (
        ({"workers": 0}, "at least 1"),
        ({"empty": "x"}, "an empty cell can mean"),
        ({"errors_to": "/no/such/folder/x"}, "cannot be written"),
    ):
        with pytest.raises(bulk.BulkError, match=said):
            checked(schemas.OrderSchema, ndjson, **options)
    with pytest.raises(bulk.BulkError, match="no schema"):
        checked(dict, ndjson)


@pytest.mark.slow
def test_memory_does_not_grow_with_the_file(tmp_path):
    """Ten times as many records have the same peak, but for some noise."""
    program = """
import resource, sys
from althaia import bulk
from tests.bulk import schemas
summary = bulk.check(schemas.OrderSchema, [sys.argv[1]], size=200_000)
assert summary.good
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
    files = [written(tmp_path / f"{n}.ndjson", *map(order, range(n))) for n in (3_000, 30_000)]
    peaks = [int(processes.succeed("-c", program, str(file), cwd=None)) for file in files]
    assert peaks[1] < peaks[0] * 1.15


@pytest.mark.parametrize("form", ["ndjson", "csv", "parquet"])
def test_a_file_that_is_named_twice_is_counted_from_its_own_beginning(tmp_path, form):
    file = tmp_path / f"x.{form}"
    if form == "parquet":
        pyarrow, parquet = map(pytest.importorskip, ("pyarrow", "pyarrow.parquet"))
        parquet.write_table(pyarrow.table({"id": ["1", "2", "x"]}), file, row_group_size=2)
    else:
        file.write_text({"csv": "id\n1\nx\n", "ndjson": '{"id": 1}\n\n{"id": "x"}\n'}[form])
    _, told = checked(schemas.CellsSchema, *[file] * 3, size=5)
    assert [(one.file, one.line) for one in told] == [(str(file), 3)] * 3


@pytest.mark.parametrize("workers", [1, 2])
def test_what_was_done_before_an_error_is_told(tmp_path, workers):
    files = [str(written(tmp_path / "a.ndjson", {"id": 1}, {"id": "x"})), str(tmp_path / "missing")]
    told = []
    with pytest.raises(bulk.BulkError, match="missing"):
        bulk.check(schemas.CellsSchema, files, workers=workers, tell=told.append, form="ndjson")
    assert [(problem.line, problem.kind) for problem in told] == [(2, "invalid")]


@sends_by_value
@pytest.mark.parametrize("workers", [1, 2])
def test_a_generated_schema_that_nests_a_class_by_its_name(tmp_path, workers):
    pytest.importorskip("cloudpickle")
    source = written(tmp_path / "a.ndjson", {"lines": [{"position": 1}, {}]})
    summary, told = checked(schemas.GeneratedSchema, source, workers=workers)
    assert summary.invalid == 1
    assert told[0].errors == {"lines": {1: {"position": ["Missing data for required field."]}}}


def test_what_is_no_record_is_not_dumped(tmp_path):
    source, target = tmp_path / "a.ndjson", tmp_path / "b.ndjson"
    written(source, 5, None, "abc", [1, 2], {"id": 1})
    summary, _ = converted(schemas.CellsSchema, source, target, dump=True)
    assert (summary.valid, summary.exceptions) == (1, 4)
    assert lines(target) == [{"id": 1}]


def answering(handler):
    """What has a new process begin with this handler: the tests may run where signals are ignored,
    as they are in the background of a script."""

    def set_handlers():
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, handler)

    return set_handlers


@contextmanager
def slow(tmp_path, workers, handler=signal.SIG_DFL, **environment):
    """Yield a conversion that has come to a slow record, and the number of its process."""
    source, began = tmp_path / "a.ndjson", tmp_path / "began"
    # The slow record is in the second partition, so that the first one is done.
    source.write_text(f'{{"id": 1}}{" " * PARTITION_BYTES}\n{{"id": 13}}\n')
    command = [sys.executable, "-m", "althaia", "convert", "tests.bulk.schemas:SlowSchema"]
    running = subprocess.Popen(
        [*command, str(source), str(tmp_path / "b.ndjson"), "--workers", workers],
        env={**os.environ, "TEST_BEGAN": str(began), **environment},
        stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, preexec_fn=answering(handler),
    )  # fmt: skip
    try:
        until = time.monotonic() + 60
        while not (began.exists() and began.read_text()) and time.monotonic() < until:
            time.sleep(0.01)
        yield running, int(began.read_text())
    finally:
        running.kill()
        running.communicate()


@signals
@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP], ids=str)
def test_signals_end_running_work_at_once_however_many_come(tmp_path, workers, number):
    with slow(tmp_path, workers) as (running, worker):
        running.send_signal(number)
        for _ in range(20):
            time.sleep(0.01)
            running.send_signal(signal.SIGINT)
            running.send_signal(signal.SIGTERM)
        _, said = running.communicate(timeout=30)
        with pytest.raises(ProcessLookupError):
            os.kill(worker, 0)
    ended = f"python -m althaia convert: ended by {number.name}\n"
    assert (running.returncode, said) == (128 + number, ended)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.ndjson", "began"]


def sent_long(partition):
    return bytes(50_000_000)


@pytest.mark.timeout(60)
def test_processes_are_ended_while_they_send_what_they_found():
    partitions = [bulk.Partition("x", "ndjson", 1, 1, b"")] * 20
    for _ in range(3):
        found = executors.processes(sent_long, partitions, 2)
        next(found)
        found.close()


def sent_back(partition):
    return partition.first


@pytest.mark.timeout(60)
@pytest.mark.parametrize("call", [1, 2])
def test_a_process_that_cannot_be_started_once(monkeypatch, call):
    """It may die before it has read what it is given to begin with."""
    calls = itertools.count(1)
    start = SpawnProcess.start

    def fails_once(self):
        if next(calls) == call:
            raise BrokenPipeError
        start(self)

    monkeypatch.setattr(SpawnProcess, "start", fails_once)
    partitions = [bulk.Partition("x", "ndjson", at, 1, b"") for at in range(8)]
    found = list(executors.processes(sent_back, partitions, 2))
    assert found == [(one, one.first) for one in partitions]


@signals
def test_a_signal_that_code_of_the_schema_swallows_ends_the_work_behind_the_partition(tmp_path):
    with slow(tmp_path, "1", TEST_SWALLOW="1") as (running, _):
        running.send_signal(signal.SIGTERM)
        _, said = running.communicate(timeout=30)
    assert (running.returncode, said) == (143, "python -m althaia convert: ended by SIGTERM\n")
    assert not (tmp_path / "b.ndjson").exists()


@signals
@sees_ignored_signals
def test_a_signal_that_was_ignored_stays_so(tmp_path):
    with slow(tmp_path, "1", handler=signal.SIG_IGN, TEST_SECONDS="1") as (running, _):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            running.send_signal(number)
        running.communicate(timeout=30)
    assert running.returncode == 0
    assert len(lines(tmp_path / "b.ndjson")) == 2


def test_a_worker_that_lacks_the_schemas_module_says_so(monkeypatch):
    monkeypatch.setattr("althaia.switch.redirect.switch_on", lambda how: None)
    told = "cannot import the schema: ModuleNotFoundError: No module"
    with pytest.raises(bulk.BulkError, match=told):
        _unpacked(b"cno_such_module\nName\n.")
