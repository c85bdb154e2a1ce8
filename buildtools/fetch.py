"""Get a release's sdist for tests: its own test suite, another line's sources.

pip downloads and checks the hash; nothing here is part of a build.
"""

from __future__ import annotations

import sys
import tarfile
import tempfile
from contextlib import suppress
from pathlib import Path

from buildtools.errors import BuildError, output_of
from buildtools.lock import Lock
from buildtools.upstream import PACKAGE


def fetch(lock: Lock, folder: Path, version: str | None = None, *, to_read: bool = False) -> Path:
    """The unpacked sdist of a release, downloaded when it is not there yet.

    :param folder: where unpacked releases are kept
    :param version: the pinned release when ``None``
    :param to_read: the lock need not know its hash, because nothing of it is executed
    :return: the folder that holds ``src`` and ``tests``
    :raises BuildError: the lock has no hash for it, or pip could not get it
    """
    version = version or lock.version
    sha256 = lock.sdist_sha256 if version == lock.version else lock.tried.get(version)
    if sha256 is None and not to_read:
        raise BuildError("vendor/marshmallow/lock.toml", f"no hash for {version}", "add it there")
    return sdist(PACKAGE, version, folder, sha256)


def sdist(package: str, version: str, folder: Path, sha256: str | None = None) -> Path:
    """The unpacked sdist of a package, below ``folder``.

    :raises BuildError: pip could not get it
    """
    if found := _unpacked(package, version, folder):
        return found
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        wanted = Path(scratch) / "requirements.txt"
        checked = f" --hash=sha256:{sha256}" if sha256 else ""
        wanted.write_text(f"{package}=={version}{checked}\n", "utf-8")
        options = ["--quiet", "--no-deps", "--no-binary", package]
        options += ["--require-hashes"] if sha256 else []
        command = (sys.executable, "-m", "pip", "download", *options, "-r", wanted, "-d", scratch)
        output_of(*command)
        (archive,) = Path(scratch).glob("*.tar.gz")
        with tarfile.open(archive) as content:
            # CPython has filters since 3.11.4.
            content.extraction_filter = getattr(tarfile, "data_filter", None)
            content.extractall(scratch)
        # Somebody else who asked for it at the same time may have been faster.
        name = archive.name.removesuffix(".tar.gz")
        with suppress(OSError):
            (Path(scratch) / name).replace(folder / name)
    return folder / name


def _unpacked(package: str, version: str, folder: Path) -> Path | None:
    """The folder of an unpacked sdist; its name may have other separators than the package's."""
    names = (f"{package}-{version}", f"{package.replace('-', '_')}-{version}")
    return next((folder / name for name in names if (folder / name / "PKG-INFO").is_file()), None)
