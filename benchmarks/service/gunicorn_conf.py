"""gunicorn's configuration for the shop."""

from __future__ import annotations

from typing import Any

from benchmarks.service.shop.settings import Settings

accesslog = None
loglevel = "warning"
# A worker that answers 200,000 rows at once is slow, not dead.
timeout = 300
keepalive = 30
# Clients are gone when a server is ended: nothing to wait for.
graceful_timeout = 1
preload_app = False


def post_worker_init(_: Any) -> None:
    """The application stands: what it consists of need not be looked through again."""
    Settings.read().set_collector()
