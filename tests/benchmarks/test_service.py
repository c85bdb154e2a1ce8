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
from benchmarks.service import compare
from benchmarks.service.client import Request, RequestFailed, load
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


@pytest.fixture
def fakes():
    made = {}
    for name, body, status in (
        ("upstream", b'{"a":1.0}', 200),
        ("same", b'{"a":1.0}', 200),
        ("body", b'{"a":1.5}', 200),
        ("longer", b'{"a":1.0}\n', 200),
        ("status", b'{"a":1.0}', 500),
    ):
        server = made[name] = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
        server.body, server.status, server.address = body, status, server.server_address
        threading.Thread(target=server.serve_forever, daemon=True).start()
    yield made
    for server in made.values():
        server.shutdown()
        server.server_close()


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
