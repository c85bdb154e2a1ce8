"""A PostgreSQL of the benchmark's own: in a folder of its own, on a Unix socket alone."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SECONDS_TO_START = 180


class NotInstalled(Exception):
    """There is no PostgreSQL, or nobody it could run as; the text says what to do."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """A running server: the folder of its socket, its process, the user it belongs to."""

    folder: Path
    process: subprocess.Popen[bytes]
    psql: str

    def url(self, name: str) -> str:
        """SQLAlchemy's URL of the database ``name``."""
        return f"postgresql+psycopg://shop@/{name}?host={self.folder}"

    def copy(self, source: str, name: str) -> str:
        """Make ``name`` a copy of the database ``source``; its URL."""
        self.execute(f'CREATE DATABASE "{name}" TEMPLATE "{source}"')
        return self.url(name)

    def execute(self, statement: str) -> None:
        """Run one statement as the server's owner; raises CalledProcessError."""
        subprocess.run(
            [self.psql, "-h", str(self.folder), "-U", "shop", "-d", "postgres", "-qc", statement],
            check=True,
            stdout=subprocess.DEVNULL,
        )

    def version(self) -> str:
        done = subprocess.run([self.psql, "--version"], capture_output=True, text=True, check=True)
        return done.stdout.split()[2]


def programs() -> Path:
    """The folder of ``initdb`` and ``postgres``; raises NotInstalled."""
    found = shutil.which("initdb")
    if found:
        return Path(found).resolve().parent
    # Debian keeps them out of PATH, one folder for each major version.
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=_major)
    if debian:
        return debian[-1].parent
    raise NotInstalled(
        "PostgreSQL is not installed: apt-get install postgresql (Debian, Ubuntu), "
        "dnf install postgresql-server (Fedora), brew install postgresql (macOS); "
        "or run the small form with --sqlite"
    )


def _major(initdb: Path) -> int:
    name = initdb.parent.parent.name
    return int(name) if name.isdigit() else 0


def owner() -> dict[str, Any]:
    """Whom ``initdb`` and ``postgres`` run as, in the words of ``subprocess``.

    They refuse to run as root; then it is the user that the package made. Raises NotInstalled
    where there is none.
    """
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        try:
            user = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    raise NotInstalled(
        "PostgreSQL does not run as root, and there is neither a user 'postgres' nor 'nobody': "
        "run the benchmark as an ordinary user"
    )


@contextmanager
def cluster() -> Iterator[Cluster]:
    """Start an empty server; stop it and remove its folder at the end.

    :raises NotInstalled: there is no PostgreSQL, or nobody to run it as
    :raises RuntimeError: it does not start; the text is what it said
    """
    binaries, who = programs(), owner()
    # Short on purpose: the path of a Unix socket has 107 characters at most.
    folder = Path(tempfile.mkdtemp(prefix="shop-"))
    try:
        if who:
            os.chown(folder, who["user"], who["group"])
        data, log = folder / "data", folder / "log"
        done = subprocess.run(
            [binaries / "initdb", "-D", data, "-U", "shop", "-A", "trust", "-E", "UTF8",
             "--locale=C", "--no-sync"],
            capture_output=True,
            text=True,
            check=False,
            cwd=folder,
            **who,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(f"initdb failed: {done.stderr.strip()[-1000:]}")
        with log.open("wb") as output:
            process = subprocess.Popen(
                [binaries / "postgres", "-D", data, "-k", folder, *_settings()],
                stdout=output,
                stderr=output,
                cwd=folder,
                **who,
            )
        try:
            _wait(binaries / "pg_isready", folder, process, log)
            yield Cluster(folder, process, str(binaries / "psql"))
        finally:
            _stop(process)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _settings() -> list[str]:
    """No network, and no waiting for a disk that others use too: computing is what is compared."""
    chosen = {
        "listen_addresses": "",
        "max_connections": "100",
        "shared_buffers": "128MB",
        "fsync": "off",
        "synchronous_commit": "off",
        "full_page_writes": "off",
        "autovacuum": "off",
        "jit": "off",
    }
    return [word for name, value in chosen.items() for word in ("-c", f"{name}={value}")]


def _wait(ready: Path, folder: Path, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < end:
        if process.poll() is not None:
            break
        asked = subprocess.run([ready, "-q", "-h", folder], check=False)
        if asked.returncode == 0:
            return
        time.sleep(0.1)
    raise RuntimeError(f"PostgreSQL did not start:\n{log.read_text()[-1000:]}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        # "Fast" in PostgreSQL's words: whoever is still connected is sent away.
        process.send_signal(signal.SIGINT)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
