"""A real cluster: a scheduler and two worker processes on the loopback."""

import json
import os

import pytest
from marshmallow import Schema, fields

from althaia import bulk
from tests.bulk import schemas
from tests.bulk.conftest import converted, lines, written

distributed = pytest.importorskip("distributed")
pytest.importorskip("cloudpickle")

SMALL = 10_000

# A cluster takes seconds to start.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


def cluster_of(workers):
    return distributed.LocalCluster(
        n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None,
        host="127.0.0.1", preload=["althaia.bulk.preload"],
    )  # fmt: skip


@pytest.fixture(scope="module")
def cluster():
    with cluster_of(2) as running:
        yield running


def test_a_cluster_gives_what_one_process_gives(cluster, ndjson, tmp_path):
    text = ndjson.read_text().splitlines()
    text[300] = json.dumps({"id": None})
    ndjson.write_text("\n".join(text))
    one, two = tmp_path / "one.ndjson", tmp_path / "two.ndjson"
    address = cluster.scheduler_address
    here = converted(schemas.OrderSchema, ndjson, one, size=SMALL)
    there = converted(schemas.OrderSchema, ndjson, two, size=SMALL, dask=address)
    assert one.read_bytes() == two.read_bytes()
    assert here == there
    assert here[1][0].line == 301


def test_workers_were_patched_and_a_class_without_a_name_arrives(cluster, tmp_path):
    source, target = written(tmp_path / "x.ndjson", {"id": 1}), tmp_path / "y.ndjson"
    made = Schema.from_dict({"id": fields.Integer(required=True)})
    converted(made, source, target, dask=cluster.scheduler_address)
    assert lines(target) == [{"id": 1}]
    with distributed.Client(cluster.scheduler_address, set_as_default=False) as client:
        assert set(client.run(_is_patched).values()) == {True}


def test_names_lead_to_the_same_file_everywhere(cluster, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here.ndjson").write_text('{"id": 1}\n')
    address = cluster.scheduler_address
    told = []
    assert bulk.check(schemas.CellsSchema, ["here.ndjson"], dask=address).valid == 1
    (tmp_path / "here.ndjson").write_text("{}\n")
    bulk.check(schemas.CellsSchema, ["here.ndjson"], dask=address, tell=told.append)
    assert told[0].file == "here.ndjson"


def _is_patched():
    import althaia

    return althaia.is_patched()


def test_what_a_lost_worker_had_is_done_again(cluster, ndjson, tmp_path):
    killed = []

    def kill(partition, summary):
        if not killed:
            nanny = next(iter(cluster.workers.values()))
            killed.append(nanny.pid)
            os.kill(nanny.pid, 9)

    options = {"size": 2_000, "watch": kill, "dask": cluster.scheduler_address}
    summary, _ = converted(schemas.OrderSchema, ndjson, tmp_path / "y.ndjson", **options)
    assert killed
    assert summary.good
    assert [one["id"] for one in lines(tmp_path / "y.ndjson")] == list(range(1, 501))


def test_nobody_answers(ndjson, monkeypatch):
    monkeypatch.setattr("althaia.bulk.executors.SECONDS_TO_CONNECT", 1)
    with pytest.raises(bulk.BulkError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9"):
        bulk.check(schemas.OrderSchema, [str(ndjson)], dask="tcp://127.0.0.1:9")


def test_a_scheduler_that_goes_away_is_told(ndjson):
    with cluster_of(1) as cluster:
        address = cluster.scheduler_address
        with pytest.raises(bulk.BulkError, match=f"the Dask scheduler at {address} has gone"):
            bulk.check(
                schemas.OrderSchema, [str(ndjson)], size=2_000, dask=address,
                watch=lambda partition, summary: cluster.close(),
            )  # fmt: skip
