"""Pings and large dumps in one reactor: Twisted on epoll."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from typing import Any

from twisted.internet import epollreactor

epollreactor.install()

from twisted.internet import reactor  # noqa: E402
from twisted.internet.interfaces import IPullProducer  # noqa: E402
from twisted.web.resource import Resource  # noqa: E402
from twisted.web.server import NOT_DONE_YET, Request, Site  # noqa: E402
from zope.interface import implementer  # noqa: E402

from benchmarks.service.pings import collection  # noqa: E402


@implementer(IPullProducer)
class Chunks:
    """Gives a chunk whenever the connection took the one before."""

    def __init__(self, request: Request, chunks: Iterator[bytes]) -> None:
        self._request, self._chunks = request, chunks

    def resumeProducing(self) -> None:
        chunk = next(self._chunks, None)
        if chunk is not None:
            self._request.write(chunk)
            return
        self._request.unregisterProducer()
        self._request.finish()

    def stopProducing(self) -> None:
        self._chunks = iter(())


class Pings(Resource):
    """``/ping``, ``/all`` at once, ``/hand`` and ``/stream`` in chunks."""

    isLeaf = True

    def render_GET(self, request: Request) -> Any:
        path = request.path.decode()
        if path == "/ping":
            return b"pong"
        request.setHeader("content-type", "application/json")
        if path == "/all":
            return collection.whole()
        request.registerProducer(Chunks(request, collection.CHUNKED[path]()), False)
        return NOT_DONE_YET


def main(descriptor: int) -> None:
    """Serve on a listening socket that was inherited."""
    # Its type depends on the platform, and on what was installed.
    chosen: Any = reactor
    # The reactor makes a copy of the descriptor, and does not wait on it.
    os.set_blocking(descriptor, False)
    chosen.adoptStreamPort(descriptor, socket.AF_INET, Site(Pings(), timeout=None))
    chosen.run()


if __name__ == "__main__":
    main(int(sys.argv[1]))
