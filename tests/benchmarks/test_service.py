"""The shop on its servers: the small form once, and the parts it is made of."""

import gc
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

pytest.importorskip("flask_smorest")
pytest.importorskip("gunicorn")
if not Path("/proc/self/clear_refs").exists():
    pytest.skip("the benchmark of a service needs Linux", allow_module_level=True)

import althaia
from benchmarks.service import command, compare, latency, model, servers, shares
from benchmarks.service.client import Request, RequestFailed, load
from benchmarks.service.measure import at_share
from benchmarks.service.profiler import Profiler
from tests.redirect import processes

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(not althaia.info().compiled, reason="it measures nothing but a compiled build")
@pytest.mark.timeout(120)
def test_the_small_form_runs_and_nothing_differs(tmp_path):
    words = "-m benchmarks.service --sqlite --once --server sync --variant switch --json --raw"
    out = tmp_path / "run.json"
    done = processes.run(*words.split(), str(out), cwd=ROOT, timeout=900)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report == json.loads(out.read_text())
    assert report["wrong"] == []
    figures = report["servers"]["sync"]["figures"]
    assert figures.keys() >= {"page", "orders", "all", "one", "post", "bulk", "rows", "text"}
    for endpoint, seen in figures.items():
        for name, one in seen.items():
            assert one["cpu_ms"] > 0, (endpoint, name)
            assert one["peak_mib"] > 10, (endpoint, name)
            assert 0 < one["first_byte_ms"] <= one["p99_ms"], (endpoint, name)
    ratios = {(r["endpoint"], r["against"]): r["ratios"] for r in report["servers"]["sync"]["rows"]}
    assert ratios["page", "page"]["upstream"]["median"] == 1.0
    assert ratios["text", "entities"]["switch"]["median"] > 0


def test_what_is_asked_for_and_missing_is_an_error(monkeypatch, capsys):
    absent = model.Variant("switch", "switch", {}, ("althaia.no_such_module",))
    monkeypatch.setitem(model.VARIANTS, "switch", absent)
    with pytest.raises(SystemExit) as ended:
        command.main(["--sqlite", "--once", "--variant", "switch"])
    assert ended.value.code == 2
    assert "'switch' needs althaia.no_such_module" in capsys.readouterr().err


def test_what_was_measured_before_an_error_is_kept(monkeypatch, capsys, tmp_path):
    def measure_and_fail(options, report, progress):
        report["servers"]["sync"] = {"measured": 1}
        raise RequestFailed("GET /orders: status 500")

    monkeypatch.setattr(command, "_service", measure_and_fail)
    raw = tmp_path / "raw" / "service.json"
    with pytest.raises(SystemExit) as ended:
        command.main(["--raw", str(raw)])
    assert ended.value.code == 2
    assert json.loads(raw.read_text())["servers"] == {"sync": {"measured": 1}}
    message = capsys.readouterr().err
    assert "GET /orders: status 500" in message
    assert f"What was measured until then is in {raw}." in message


class Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(self.server.status)
        body = self.server.body
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Fake:
    def __init__(self, body, status=200):
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
        self._server.body, self._server.status = body, status
        self.address = self._server.server_address
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def fakes():
    made = {
        "upstream": Fake(b'{"a":1.0}'),
        "same": Fake(b'{"a":1.0}'),
        "body": Fake(b'{"a":1.5}'),
        "longer": Fake(b'{"a":1.0}\n'),
        "status": Fake(b'{"a":1.0}', 500),
    }
    yield made
    for fake in made.values():
        fake.close()


def test_every_difference_is_found(fakes):
    found = compare.differences(fakes, [compare.Pair(Request("/x"))])
    assert [line.partition(":")[0] for line in found] == [
        "GET /x, body",
        "GET /x, longer",
        "GET /x, status",
    ]
    assert "at byte 7: b'{\"a\":1.0}' became b'{\"a\":1.5}'" in found[0]
    # Headers are compared too, where the request is the same.
    assert "content-length" in found[1]


def test_equal_failures_are_no_success(fakes):
    same = {name: fakes[name] for name in ("upstream", "same")}
    (line,) = compare.differences(same, [compare.Pair(Request("/x", status=422))])
    assert line == "GET /x, upstream: status 200 for 422"
    seen = load(fakes["upstream"].address, lambda n: Request("/"), 10, 3)
    assert (len(seen.latencies), len(seen.first_bytes), seen.received) == (10, 10, 90)
    with pytest.raises(RequestFailed, match="status 500, expected 200"):
        load(fakes["status"].address, lambda n: Request("/"), 10, 3)


def test_a_server_that_dies_is_an_error_with_its_last_words(tmp_path):
    kind = servers.Kind("x", "a server", (), ("-c", "raise SystemExit('no {fd}')"))
    server = servers.Server(kind, {}, tmp_path / "log")
    server._process.wait()
    with pytest.raises(servers.ServerFailed, match=r"a server ended with code 1:\nno \d+"):
        server.wait()


def test_the_profiler_tells_the_parts_apart():
    import marshmallow

    class Number(marshmallow.Schema):
        a = marshmallow.fields.Integer()

    schema, rows = Number(many=True), [{"a": i} for i in range(1_000)]

    def work(seconds):
        # Both servers get the same time, however fast they are here.
        end = clock() + seconds
        while clock() < end:
            dumped = schema.dump(rows)
        end = clock() + seconds
        while clock() < end:
            kept.append(json.dumps(dumped, indent=1))

    from time import process_time as clock

    kept = []
    profiler = Profiler()
    profiler.start()
    try:
        start = clock()
        work(0.3)
        _looked_at = [[each] for each in range(300_000)]
        gc.collect()
        spent = clock() - start
    finally:
        parts = profiler.stop()
    assert parts["marshmallow"] > 0.02
    assert parts["text"] > 0.02
    assert parts["collector"] > 0
    assert parts["database"] == parts["orm"] == 0
    assert sum(parts.values()) == pytest.approx(spent, rel=0.25)


def test_shares():
    values = [float(i) for i in range(100)]
    assert [at_share(values, share) for share in (0.5, 0.99)] == [50.0, 99.0]
    assert at_share([1.0], 0.99) == 1.0
    # The bound is all but the database and the ORM.
    assert shares.bound(dict.fromkeys(shares.PARTS, 1.0)) == pytest.approx(len(shares.PARTS) / 2)


@pytest.mark.timeout(120)
def test_pings_and_dumps_at_once(monkeypatch):
    pytest.importorskip("uvicorn")
    pytest.importorskip("starlette")
    monkeypatch.setattr(latency, "OBJECTS", 500)
    point = latency.point(latency.UVICORN, latency.WAYS[0], connections=20, seconds=1.0)
    assert point["pings"] >= 45
    assert 0 < point["p50_ms"] <= point["p99_ms"] <= point["most_ms"]
    assert point["dumps"] > 0
