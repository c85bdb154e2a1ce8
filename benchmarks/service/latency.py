"""Pings on 100 to 15,000 open connections, while a large collection is dumped again and again."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.service.client import Connection, Request, RequestFailed
from benchmarks.service.measure import at_share
from benchmarks.service.model import STREAM, SWITCH, UPSTREAM, Missing, Variant, missing
from benchmarks.service.servers import ROOT, Kind, Server, ServerFailed, environment, running

CONNECTIONS = (100, 1_000, 5_000, 10_000, 15_000)
RATE = 50.0
"""Pings a second, all connections together: what changes is how many are open. No more than the
slowest server can answer between two dumps with one ping a connection, or they pile up."""
OBJECTS = 20_000
"""In the collection that is dumped."""
ROUNDS = 3
SPARE = 200
"""Descriptors that a process needs besides its connections."""

TWISTED = Kind("twisted", "Twisted on epoll", ("twisted",),
               ("-m", "benchmarks.service.pings.twisted_server", "{fd}"))  # fmt: skip
UVICORN = Kind("uvicorn", "Starlette, uvicorn", ("starlette", "uvicorn"),
               ("-m", "benchmarks.service.pings.uvicorn_server", "{fd}"))  # fmt: skip


@dataclass(frozen=True, slots=True)
class Way:
    """A variant and the way in which it writes the collection."""

    name: str
    label: str
    variant: Variant
    path: str
    needs: tuple[str, ...] = ()


WAYS = (
    Way("upstream", "marshmallow", UPSTREAM, "/all"),
    Way("upstream-chunks", "marshmallow, chunks by hand", UPSTREAM, "/hand"),
    Way("althaia", "althaia", SWITCH, "/all"),
    Way("althaia-stream", "althaia, streaming", SWITCH, "/stream", STREAM),
)


def measure(
    most: int, *, quick: bool, progress: Callable[[str], object] = lambda text: None
) -> list[dict[str, Any]]:
    """Points of p50 and p99, for each server, way and number of connections.

    :param most: no more connections than these; fewer where the machine allows fewer
    :raises Missing: neither server is installed
    """
    allowed = allow_descriptors(most + SPARE) - SPARE
    if allowed < most:
        progress(
            f"this machine allows {allowed + SPARE:,} open files in a process: "
            f"no more than {allowed:,} connections"
        )
    counts = [n for n in CONNECTIONS if n <= min(most, allowed)] or [min(most, allowed)]
    kinds = [kind for kind in (TWISTED, UVICORN) if missing(kind.modules) is None]
    if not kinds:
        raise Missing("the pings need Twisted or uvicorn: pip install 'althaia[service]'")
    points: list[dict[str, Any]] = []
    for kind in kinds:
        for way in WAYS:
            if need := missing(way.needs):
                progress(f"not in this run: {way.label}: needs {need}, which is not there")
                continue
            found: dict[int, list[dict[str, Any]]] = {count: [] for count in counts}
            for number in range(1 if quick else ROUNDS):
                for count in counts:
                    progress(
                        f"pings: {kind.label}, {way.label}, {count:,} connections, "
                        f"round {number + 1}"
                    )
                    found[count].append(point(kind, way, count, seconds=3.0 if quick else 6.0))
            points.extend(map(together, found.values()))
    return points


def together(rounds: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """One point of several rounds at the same number of connections: all their pings, the slowest
    of all, and the median of each other figure.

    The machine itself may stop for a moment: that is a hundredth of the pings of one round.
    """
    return {
        **rounds[0],
        "pings": sum(one["pings"] for one in rounds),
        "most_ms": max(one["most_ms"] for one in rounds),
        **{name: median(one[name] for one in rounds) for name in ("p50_ms", "p99_ms", "dumps")},
    }


def allow_descriptors(wanted: int) -> int:
    """Raise this process's limit of open files, and its children's, to ``wanted`` if the
    machine lets it; the limit as it is now."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < wanted:
        soft = min(wanted, hard) if hard != resource.RLIM_INFINITY else wanted
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return soft


def point(kind: Kind, way: Way, connections: int, seconds: float) -> dict[str, Any]:
    """One server, new; ``connections`` that ping; one client that wants everything.

    :raises ServerFailed: the server or the pinging process came to an end
    """
    with tempfile.TemporaryDirectory(prefix="shop-") as folder:
        variables = {**way.variant.variables, "SHOP_OBJECTS": str(OBJECTS)}
        server = Server(kind, variables, Path(folder) / "log")
        with running([server]), pinging(server, connections, seconds) as pings:
            with dumping(server, way.path) as dumped:
                output, errors = pings.communicate("go\n")
            if pings.returncode:
                raise ServerFailed(f"{kind.label}, {way.label}: {errors.strip()}\n{server.said()}")
    latencies: list[float] = json.loads(output)
    return {
        "server": kind.label,
        "way": way.name,
        "label": way.label,
        "connections": connections,
        "pings": len(latencies),
        "p50_ms": at_share(latencies, 0.50) * 1e3,
        "p99_ms": at_share(latencies, 0.99) * 1e3,
        "most_ms": latencies[-1] * 1e3,
        "dumps": len(dumped) / seconds,
    }


@contextmanager
def pinging(server: Server, connections: int, seconds: float) -> Iterator[subprocess.Popen[str]]:
    """The pinging process, with all its connections open."""
    host, port = server.address
    process = subprocess.Popen(
        [
            sys.executable, "-m", "benchmarks.service.pings.client",
            host, str(port), str(connections), str(seconds), str(RATE),
        ],
        cwd=ROOT,
        env=environment({}),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        if process.stdout.readline().strip() != "open":
            raise ServerFailed(f"{process.communicate()[1].strip()}\n{server.said()}")
        yield process
    finally:
        process.kill()
        process.communicate()


@contextmanager
def dumping(server: Server, path: str) -> Iterator[list[int]]:
    """One client that asks for everything again and again; the sizes of what it got."""
    sizes: list[int] = []
    end = threading.Event()
    failures: list[RequestFailed] = []

    def ask() -> None:
        connection = Connection(server.address)
        try:
            while not end.is_set():
                sizes.append(len(connection.fetch(Request(path)).body))
        except RequestFailed as error:
            failures.append(error)
        finally:
            connection.close()

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield sizes
    finally:
        end.set()
        thread.join()
    if failures:
        raise ServerFailed(f"{path}: {failures[0]}\n{server.said()}")
