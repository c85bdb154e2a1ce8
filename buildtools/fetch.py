"""Get a release's sdist for tests: its own test suite, another line's sources.

pip downloads and checks the hash; nothing here is part of a build.
"""

from __future__ import annotations

import sys
import tarfile
import tempfile
from pathlib import Path

from buildtools.errors import BuildError, output_of
from buildtools.lock import Lock
from buildtools.upstream import PACKAGE


def fetch(lock: Lock, folder: Path, version: str | None = None) -> Path:
    """The unpacked sdist of a release the lock knows, downloaded when it is not there yet.

    :param folder: where unpacked releases are kept
    :param version: the pinned release when ``None``
    :return: the folder that holds ``src`` and ``tests``
    :raises BuildError: the lock has no hash for it, or pip could not get it
    """
    version = version or lock.version
    sha256 = lock.sdist_sha256 if version == lock.version else lock.tried.get(version)
    if sha256 is None:
        raise BuildError("vendor/marshmallow/lock.toml", f"no hash for {version}", "add it there")
    return _unpacked(folder, version, sha256)


def to_read(lock: Lock, folder: Path, version: str) -> Path:
    """The same of any release, whose hash the lock need not know: nothing of it is executed.

    :raises BuildError: pip could not get it
    """
    if version == lock.version or version in lock.tried:
        return fetch(lock, folder, version)
    return _unpacked(folder, version, None)


def _unpacked(folder: Path, version: str, sha256: str | None) -> Path:
    unpacked = folder / f"{PACKAGE}-{version}"
    if (unpacked / "PKG-INFO").is_file():
        return unpacked
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        archive = _download(version, sha256, Path(scratch))
        with tarfile.open(archive) as content:
            # CPython has filters since 3.11.4.
            content.extraction_filter = getattr(tarfile, "data_filter", None)
            content.extractall(scratch)
        try:
            (Path(scratch) / unpacked.name).replace(unpacked)
        except OSError:
            # Somebody else who asked for it at the same time was faster.
            if not (unpacked / "PKG-INFO").is_file():
                raise
    return unpacked


def _download(version: str, sha256: str | None, scratch: Path) -> Path:
    wanted = scratch / "requirements.txt"
    checked = f" --hash=sha256:{sha256}" if sha256 else ""
    wanted.write_text(f"{PACKAGE}=={version}{checked}\n", "utf-8")
    options = ["--quiet", "--no-deps", "--no-binary", PACKAGE]
    options += ["--require-hashes"] if sha256 else []
    command = (sys.executable, "-m", "pip", "download", *options, "-r", wanted, "-d", scratch)
    output_of(*command)
    return next(scratch.glob("*.tar.gz"))
