"""A real cluster: a scheduler and two worker processes on the loopback."""

import json
import os

import pytest

pytest.importorskip("distributed")
pytest.importorskip("cloudpickle")

from althaia import bulk
from tests.bulk import schemas

SMALL = 10_000

# A cluster takes seconds to start.
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def cluster():
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        dashboard_address=None,
        host="127.0.0.1",
        preload=["althaia.bulk.preload"],
    ) as running:
        yield running


@pytest.mark.timeout(180)
def test_a_cluster_gives_what_one_process_gives(cluster, ndjson, tmp_path):
    text = ndjson.read_text().splitlines()
    text[300] = json.dumps({"id": None})
    ndjson.write_text("\n".join(text))
    one, two = tmp_path / "one.ndjson", tmp_path / "two.ndjson"
    expected = []
    found = []
    here = bulk.convert(
        schemas.OrderSchema, str(ndjson), str(one), size=SMALL, tell=expected.append
    )
    there = bulk.convert(
        schemas.OrderSchema,
        str(ndjson),
        str(two),
        size=SMALL,
        tell=found.append,
        dask=cluster.scheduler_address,
    )
    assert one.read_bytes() == two.read_bytes()
    assert found == expected
    assert found[0].line == 301
    assert here == there


@pytest.mark.timeout(180)
def test_workers_were_patched_and_a_class_without_a_name_arrives(cluster, tmp_path):
    from marshmallow import Schema, fields

    source, target = tmp_path / "x.ndjson", tmp_path / "y.ndjson"
    source.write_text('{"id": 1}\n')
    made = Schema.from_dict({"id": fields.Integer(required=True)})
    bulk.convert(made, str(source), str(target), dask=cluster.scheduler_address)
    assert target.read_text() == '{"id": 1}\n'
    from distributed import Client

    with Client(cluster.scheduler_address, set_as_default=False) as client:
        assert set(client.run(_is_patched).values()) == {True}


@pytest.mark.timeout(180)
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


@pytest.mark.timeout(180)
def test_what_a_lost_worker_had_is_done_again(cluster, ndjson, tmp_path):
    target = tmp_path / "y.ndjson"
    killed = []

    def kill(partition, summary):
        if not killed:
            nanny = next(iter(cluster.workers.values()))
            killed.append(nanny.pid)
            os.kill(nanny.pid, 9)

    summary = bulk.convert(
        schemas.OrderSchema,
        str(ndjson),
        str(target),
        size=2_000,
        watch=kill,
        dask=cluster.scheduler_address,
    )
    assert killed
    assert summary.good
    assert [json.loads(line)["id"] for line in target.read_text().splitlines()] == list(
        range(1, 501)
    )


def test_nobody_answers(ndjson, monkeypatch):
    monkeypatch.setattr("althaia.bulk.executors.SECONDS_TO_CONNECT", 1)
    with pytest.raises(bulk.BulkError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9"):
        bulk.check(schemas.OrderSchema, [str(ndjson)], dask="tcp://127.0.0.1:9")


@pytest.mark.timeout(180)
def test_a_scheduler_that_goes_away_is_told(ndjson, tmp_path):
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address=None, host="127.0.0.1",
        preload=["althaia.bulk.preload"],
    ) as cluster:  # fmt: skip
        address = cluster.scheduler_address
        with pytest.raises(bulk.BulkError, match=f"the Dask scheduler at {address} has gone"):
            bulk.check(
                schemas.OrderSchema,
                [str(ndjson)],
                size=2_000,
                watch=lambda partition, summary: cluster.close(),
                dask=address,
            )
