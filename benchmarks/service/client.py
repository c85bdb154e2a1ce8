"""HTTP clients on the loopback: bounded in number and in time."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException

SECONDS = 300.0
"""The longest that one request may take."""

CHANGING = frozenset({"date", "server", "connection", "keep-alive"})
"""Headers that say nothing about the application."""


class RequestFailed(Exception):
    """A request came to nothing, or its status is not the one that was expected."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is sent, and the status that has to come back."""

    path: str
    method: str = "GET"
    body: bytes | None = None
    status: int = 200


@dataclass(frozen=True, slots=True)
class Response:
    """What came back. ``first_byte`` and ``seconds`` count from before the connection is made."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    first_byte: float
    seconds: float


class Connection:
    """One client, which keeps its connection where the server does."""

    def __init__(self, address: tuple[str, int]) -> None:
        self._http = HTTPConnection(*address, timeout=SECONDS)

    def fetch(self, request: Request) -> Response:
        """Send one request and read all of its answer; raises RequestFailed."""
        start = time.perf_counter()
        try:
            return self._fetch(request, start)
        except (OSError, HTTPException) as error:
            self._http.close()
            raise RequestFailed(f"{request.method} {request.path}: {error!r}") from error

    def _fetch(self, request: Request, start: float) -> Response:
        headers = {"Content-Type": "application/json"} if request.body is not None else {}
        self._http.request(request.method, request.path, request.body, headers)
        if self._http.sock is not None:
            # Answers to small requests must not wait for an acknowledgement.
            self._http.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        answer = self._http.getresponse()
        body = answer.read(1)
        first = time.perf_counter() - start
        body += answer.read()
        return Response(
            answer.status,
            tuple(
                sorted((k.lower(), v) for k, v in answer.getheaders() if k.lower() not in CHANGING)
            ),
            body,
            first,
            time.perf_counter() - start,
        )

    def close(self) -> None:
        self._http.close()


def fetch(address: tuple[str, int], request: Request) -> Response:
    """One request on a connection of its own."""
    connection = Connection(address)
    try:
        return connection.fetch(request)
    finally:
        connection.close()


@dataclass(slots=True)
class Load:
    """What some clients saw together."""

    seconds: float
    """From the first request to the last answer."""
    latencies: list[float] = field(default_factory=list)
    first_bytes: list[float] = field(default_factory=list)
    received: int = 0


def load(
    address: tuple[str, int], requests: Callable[[int], Request], count: int, clients: int
) -> Load:
    """Send ``requests(0)`` to ``requests(count - 1)`` from ``clients`` clients at once.

    :raises RequestFailed: one of them failed, or its status was another
    """
    numbers = iter(range(count))
    lock = threading.Lock()
    seen = Load(0.0)
    failures: list[Exception] = []

    def client() -> None:
        connection = Connection(address)
        try:
            while not failures:
                with lock:
                    number = next(numbers, None)
                if number is None:
                    return
                request = requests(number)
                answer = connection.fetch(request)
                if answer.status != request.status:
                    raise RequestFailed(
                        f"{request.method} {request.path}: status {answer.status}, expected "
                        f"{request.status}: {answer.body[:300]!r}"
                    )
                with lock:
                    seen.latencies.append(answer.seconds)
                    seen.first_bytes.append(answer.first_byte)
                    seen.received += len(answer.body)
        except Exception as error:
            failures.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=client) for _ in range(min(clients, count))]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seen.seconds = time.perf_counter() - start
    if failures:
        raise failures[0]
    return seen
