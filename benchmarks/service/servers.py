"""Server processes: started on the loopback, watched from outside, ended."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SECONDS_TO_START = 180
BACKLOG = 4_096


class ServerFailed(Exception):
    """A server did not start or died; the text has the end of what it said."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A framework under a server: its command line and whether its processes are children.

    ``command`` gets the number of the listening socket and that of the workers.
    """

    name: str
    label: str
    modules: tuple[str, ...]
    command: tuple[str, ...]
    forks: bool = False

    def words(self, descriptor: int, workers: int) -> list[str]:
        return [
            sys.executable,
            *(word.format(fd=descriptor, workers=workers) for word in self.command),
        ]


_GUNICORN = ("-m", "gunicorn", "-c", "python:benchmarks.service.gunicorn_conf",
             "-b", "fd://{fd}", "-w", "{workers}")  # fmt: skip
_FLASK = "benchmarks.service.shop.flask_app:create_app()"
_FLASK_MODULES = ("flask", "flask_smorest", "gunicorn")

SYNC = Kind("sync", "Flask, flask-smorest, gunicorn sync", _FLASK_MODULES,
            (*_GUNICORN, "-k", "sync", _FLASK), forks=True)  # fmt: skip
PROFILED = Kind("profiled", "the same under the profiler", _FLASK_MODULES,
                (*_GUNICORN, "-k", "sync", "benchmarks.service.profiled:create_app()"),
                forks=True)  # fmt: skip
GTHREAD = Kind("gthread", "Flask, flask-smorest, gunicorn gthread", _FLASK_MODULES,
               (*_GUNICORN, "-k", "gthread", "--threads", "4", _FLASK), forks=True)  # fmt: skip
UVICORN = Kind("uvicorn", "Starlette, uvicorn", ("starlette", "uvicorn"),
               ("-m", "benchmarks.service.shop.starlette_app", "{fd}"))  # fmt: skip
TWISTED = Kind("twisted", "Twisted", ("twisted",),
               ("-m", "benchmarks.service.shop.twisted_app", "{fd}"))  # fmt: skip
KINDS = {kind.name: kind for kind in (SYNC, GTHREAD, UVICORN, TWISTED)}


class Server:
    """A running server."""

    def __init__(
        self, kind: Kind, variables: Mapping[str, str], log: Path, workers: int = 1
    ) -> None:
        self.kind = kind
        self._log = log
        self._workers = workers
        with socket.create_server(("127.0.0.1", 0), backlog=BACKLOG) as listener:
            self.address: tuple[str, int] = listener.getsockname()
            # Handed over open: nobody else can take the port in between.
            listener.set_inheritable(True)
            with log.open("wb") as output:
                self._process = subprocess.Popen(
                    kind.words(listener.fileno(), workers),
                    cwd=ROOT,
                    env=environment(variables),
                    pass_fds=[listener.fileno()],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                )

    def wait(self) -> None:
        """Wait for the workers; raises ServerFailed."""
        end = time.monotonic() + SECONDS_TO_START
        while time.monotonic() < end:
            self.check()
            if len(self.workers()) >= self._workers:
                return
            time.sleep(0.05)
        raise ServerFailed(f"{self.kind.label} did not start:\n{self.said()}")

    def check(self) -> None:
        """Raise ServerFailed if the server is no more."""
        if self._process.poll() is not None:
            raise ServerFailed(
                f"{self.kind.label} ended with code {self._process.returncode}:\n{self.said()}"
            )

    def said(self) -> str:
        return self._log.read_text(errors="replace")[-3_000:]

    def workers(self) -> list[int]:
        """The processes that answer requests."""
        if not self.kind.forks:
            return [self._process.pid]
        return children(self._process.pid)

    def cpu_seconds(self) -> float:
        """Processor time of the workers until now, all their threads together."""
        return sum(cpu_seconds(pid) for pid in self.workers())

    def forget_peaks(self) -> None:
        """Let the peak of memory be what is in use now."""
        for pid in self.workers():
            Path(f"/proc/{pid}/clear_refs").write_text("5")

    def peak_bytes(self) -> int:
        """The most memory that one worker had since :meth:`forget_peaks`."""
        return max((status_bytes(pid, "VmHWM") for pid in self.workers()), default=0)

    def close(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            for pid in (*self.workers(), self._process.pid):
                os.kill(pid, 9)
            self._process.wait()


@contextmanager
def running(servers: Sequence[Server]) -> Iterator[None]:
    """Wait until all of ``servers`` stand; close them at the end."""
    try:
        for server in servers:
            server.wait()
        yield
    finally:
        for server in servers:
            server.close()


def environment(variables: Mapping[str, str]) -> dict[str, str]:
    """The caller's environment, without switches that would make two variants one."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("ALTHAIA_", "PYTHON", "SHOP_", "PG"))
    }
    return {**kept, "PYTHONHASHSEED": "0", **variables}


def children(pid: int) -> list[int]:
    """The processes that ``pid`` started; none where it is gone."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += map(int, task.read_text().split())
        except OSError:
            continue
    return found


def cpu_seconds(pid: int) -> float:
    """Processor time of a process in nanosecond steps; ``/proc/PID/stat`` has steps of 10 ms.

    The number of a process's clock is what ``clock_getcpuclockid`` gives, which Python has
    only for threads.
    """
    return time.clock_gettime((~pid << 3) | 2)


def status_bytes(pid: int, name: str) -> int:
    """A line of ``/proc/PID/status`` that is given in kB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise LookupError(f"/proc/{pid}/status has no {name}: the benchmark needs Linux")
