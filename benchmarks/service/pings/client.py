"""The pinging side: many connections in one process; its figures as JSON on stdout.

Pings leave at a fixed rate, whatever came back so far, each on the next connection in turn, and
count from the moment they should have left: a server that stands still for a second makes all
pings of that second late, not one.
"""

from __future__ import annotations

import json
import select
import socket
import sys
import time
from collections import deque

REQUEST = b"GET /ping HTTP/1.1\r\nHost: localhost\r\n\r\n"
AT_ONCE = 500
"""Connections that are opened together: fewer than a listening socket lets wait."""
SECONDS_TO_OPEN = 60.0
SECONDS_TO_END = 30.0


class PingFailed(Exception):
    """A connection could not be opened or was closed by the server."""


class Pinger:
    """``count`` open connections to one server."""

    def __init__(self, address: tuple[str, int], count: int) -> None:
        self._poll = select.epoll()
        self._sockets: dict[int, socket.socket] = {}
        self._sent: dict[int, float] = {}
        self.latencies: list[float] = []
        while len(self._sockets) < count:
            self._open(address, min(AT_ONCE, count - len(self._sockets)))
        self._idle = deque(self._sockets)

    def _open(self, address: tuple[str, int], count: int) -> None:
        """Open ``count`` connections and ping each once, so that the server knows it."""
        for _ in range(count):
            opened = socket.create_connection(address, timeout=SECONDS_TO_OPEN)
            opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            opened.setblocking(False)
            self._sockets[opened.fileno()] = opened
            self._poll.register(opened.fileno(), select.EPOLLIN)
            self._send(opened.fileno(), time.perf_counter())
        self._finish(SECONDS_TO_OPEN)

    def _send(self, descriptor: int, since: float) -> None:
        self._sent[descriptor] = since
        self._sockets[descriptor].send(REQUEST)

    def _receive(self, seconds: float) -> list[int]:
        """Wait for answers; the connections that are idle again."""
        ready = []
        for descriptor, _ in self._poll.poll(seconds):
            got = self._sockets[descriptor].recv(4_096)
            if not got:
                raise PingFailed("the server closed a connection")
            # Short answers come in one piece; only its end matters.
            if got.endswith(b"pong"):
                self.latencies.append(time.perf_counter() - self._sent.pop(descriptor))
                ready.append(descriptor)
        return ready

    def _finish(self, seconds: float) -> None:
        end = time.perf_counter() + seconds
        while self._sent:
            if time.perf_counter() > end:
                raise PingFailed(f"{len(self._sent)} pings got no answer in {seconds:.0f} seconds")
            self._receive(0.1)

    def run(self, seconds: float, rate: float) -> None:
        """Send ``rate`` pings a second for ``seconds``; wait for the last answers."""
        self.latencies.clear()
        start = due = time.perf_counter()
        while due < start + seconds:
            now = time.perf_counter()
            while due <= now and self._idle:
                self._send(self._idle.popleft(), due)
                due += 1 / rate
            self._idle.extend(self._receive(max(0.0, due - time.perf_counter())))
        self._finish(SECONDS_TO_END)


def main(host: str, port: str, connections: str, seconds: str, rate: str) -> None:
    pinger = Pinger((host, int(port)), int(connections))
    # The other side starts its large requests now.
    print("open", flush=True)
    sys.stdin.readline()
    pinger.run(float(seconds), float(rate))
    print(json.dumps(sorted(pinger.latencies)), flush=True)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except (PingFailed, OSError) as error:
        sys.exit(f"pings: {error}")
