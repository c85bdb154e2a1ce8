"""Servers of all variants side by side, compared, then loaded in turns."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.service import compare, postgres
from benchmarks.service.client import RequestFailed, load
from benchmarks.service.model import NOTHING, Endpoint, Variant, is_upstream
from benchmarks.service.servers import Kind, Server, ServerFailed, running
from benchmarks.service.shop import data, tables
from benchmarks.timing import Spread, ratios

Copy = Callable[[str], str]
"""Makes a copy of the filled database under a name and gives its URL."""


@contextmanager
def database(size: data.Size, *, sqlite: bool) -> Iterator[tuple[Copy, str]]:
    """A filled database, as a function that copies it, and what it is."""
    with tempfile.TemporaryDirectory(prefix="shop-") as folder:
        if sqlite:
            source = Path(folder) / "shop.db"
            tables.fill(f"sqlite:///{source}", size)

            def copy(name: str) -> str:
                target = Path(folder) / f"{name}.db"
                target.write_bytes(source.read_bytes())
                return f"sqlite:///{target}"

            yield copy, "SQLite"
            return
        with postgres.cluster() as cluster:
            cluster.execute('CREATE DATABASE "shop"')
            tables.fill(cluster.url("shop"), size)
            yield (lambda name: cluster.copy("shop", name)), f"PostgreSQL {cluster.version()}"


@contextmanager
def servers(
    kind: Kind,
    variants: Sequence[Variant],
    copy: Copy,
    variables: Mapping[str, str] = NOTHING,
) -> Iterator[dict[str, Server]]:
    """A server for each variant, each on a copy of the database of its own."""
    with tempfile.TemporaryDirectory(prefix="shop-") as folder:
        started: dict[str, Server] = {}
        for variant in variants:
            url = copy(f"{kind.name}-{variant.name}")
            started[variant.name] = Server(
                kind,
                {**variant.variables, **variables, "SHOP_DATABASE": url},
                Path(folder) / variant.name,
            )
        with running(list(started.values())):
            try:
                yield started
            except RequestFailed as error:
                said = "".join(f"\n{name}: {one.said()}" for name, one in started.items())
                raise ServerFailed(f"{error}{said.rstrip()}") from error


@dataclass(slots=True)
class Figures:
    """One endpoint on one variant; times in seconds, a figure for each round or request."""

    cpu: list[float] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)
    latencies: list[float] = field(default_factory=list)
    first_bytes: list[float] = field(default_factory=list)
    peak: int = 0
    received: int = 0

    def as_json(self) -> dict[str, Any]:
        ordered = sorted(self.latencies)
        return {
            "cpu_ms": Spread.of(self.cpu).median * 1e3,
            "rate": Spread.of(self.rates).median,
            "p50_ms": at_share(ordered, 0.50) * 1e3,
            "p99_ms": at_share(ordered, 0.99) * 1e3,
            "first_byte_ms": Spread.of(self.first_bytes).median * 1e3,
            "peak_mib": self.peak / 2**20,
            "bytes": self.received,
        }


def at_share(ordered: Sequence[float], share: float) -> float:
    """The value below which ``share`` of the sorted values lie.

    >>> at_share([1.0, 2.0, 3.0, 4.0], 0.5)
    3.0
    """
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


@dataclass(frozen=True, slots=True)
class Effort:
    """How long everything takes: rounds, seconds of upstream's processor time in each."""

    rounds: int
    seconds: float


FULL = Effort(rounds=7, seconds=1.0)
QUICK = Effort(rounds=3, seconds=0.2)
ONCE = Effort(rounds=1, seconds=0.0)


def endpoint(
    asked: Endpoint, running_servers: Mapping[str, Server], effort: Effort
) -> dict[str, Figures]:
    """Load every variant in turns with one endpoint."""
    figures = {name: Figures() for name in running_servers}
    count = _count(asked, next(iter(running_servers.values())), effort)
    for name, server in running_servers.items():
        # Plans are made, pools filled, and the peak is this endpoint's own.
        load(server.address, asked.request, 3 if asked.most > 1 else 1, asked.clients)
        server.forget_peaks()
        figures[name].peak = 0
    for turn in range(effort.rounds):
        names = list(running_servers)
        for name in names if turn % 2 == 0 else reversed(names):
            server, seen = running_servers[name], figures[name]
            before = server.cpu_seconds()
            answered = load(server.address, asked.request, count, asked.clients)
            seen.cpu.append((server.cpu_seconds() - before) / count)
            seen.rates.append(count / answered.seconds)
            seen.latencies += answered.latencies
            seen.first_bytes += answered.first_bytes
            seen.received = answered.received // count
    for name, server in running_servers.items():
        figures[name].peak = server.peak_bytes()
    return figures


def _count(asked: Endpoint, server: Server, effort: Effort) -> int:
    """How many requests take about the seconds wanted on the slowest, upstream's, server."""
    if asked.most == 1 or not effort.seconds:
        return 1
    for _ in range(2):
        before = server.cpu_seconds()
        load(server.address, asked.request, 2, 1)
        spent = (server.cpu_seconds() - before) / 2
    return max(asked.clients, min(asked.most, round(effort.seconds / spent)))


def ratio(baseline: Figures, figures: Figures) -> Spread:
    """How many times less processor time a request takes than with ``baseline``."""
    return ratios(baseline.cpu, figures.cpu)


def framework(
    kind: Kind,
    variants: Sequence[Variant],
    chosen: Sequence[Endpoint],
    copy: Copy,
    size: data.Size,
    effort: Effort,
    progress: Callable[[str], object] = lambda text: None,
) -> tuple[dict[str, dict[str, Figures]], list[str]]:
    """Figures by endpoint and variant on one framework, and what differed from upstream.

    Where something differs nothing is timed.
    """
    measured: dict[str, dict[str, Figures]] = {}
    with servers(kind, variants, copy) as started:
        progress(f"{kind.label}: comparing responses")
        wrong = compare.differences(started, compare.pairs(size, kind.name))
        if wrong:
            return {}, wrong
        for asked in chosen:
            progress(f"{kind.label}: {asked.title}")
            able = {
                name: server
                for name, server in started.items()
                if not (asked.needs and is_upstream(name))
            }
            measured[asked.name] = endpoint(asked, able, effort)
    return measured, []
