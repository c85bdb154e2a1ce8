"""Where the time of a request goes, in a run of its own: the profiler is not free."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from benchmarks.service.client import Request, fetch, load
from benchmarks.service.measure import Copy, servers
from benchmarks.service.model import Endpoint, Variant, is_upstream
from benchmarks.service.profiler import PARTS
from benchmarks.service.servers import PROFILED

INTERRUPTED = {"PSYCOPG_WAIT_FUNC": "wait_poll"}
"""psycopg's own waiting in C takes a signal, and the profiler sends many, for a failure."""

Shares = dict[str, float]
"""Milliseconds of processor time of one request, by part."""


def measure(
    chosen: Sequence[Endpoint],
    variants: Sequence[Variant],
    copy: Copy,
    most: int,
    progress: Callable[[str], object] = lambda text: None,
) -> dict[str, dict[str, Shares]]:
    """Shares by endpoint and variant, of up to ``most`` requests each."""
    found: dict[str, dict[str, Shares]] = {}
    with servers(PROFILED, variants, copy, INTERRUPTED) as started:
        for asked in chosen:
            progress(f"profile: {asked.title}")
            for name, server in started.items():
                if asked.needs and is_upstream(name):
                    continue
                load(server.address, asked.request, 3 if asked.most > 1 else 1, 1)
                fetch(server.address, Request("/profile/start"))
                count = min(most, asked.most)
                load(server.address, asked.request, count, 1)
                answer = fetch(server.address, Request("/profile/stop"))
                spent = json.loads(answer.body)
                found.setdefault(asked.name, {})[name] = {
                    part: spent[part] * 1e3 / count for part in PARTS
                }
    return found


def bound(shares: Shares) -> float:
    """How many times as fast it would be if all but database and ORM took no time.

    Reading the ORM's attributes counts as ours to save, since a plan may do it another way.
    """
    kept = shares["database"] + shares["orm"]
    return sum(shares.values()) / kept if kept else float("inf")
