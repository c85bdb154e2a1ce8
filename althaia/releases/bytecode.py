"""Caches the code of a patched file between processes.

Like Python's own bytecode it is stored in ``__pycache__`` beside the file, under another name. If
that cannot be written, it is stored in a folder of the user that nobody else can write. A cached
file is used only if it is complete and was made from the same source by the same althaia for the
same Python; otherwise it is made again.
"""

from __future__ import annotations

import marshal
import os
import sys
from importlib.util import MAGIC_NUMBER, cache_from_source, source_hash

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, Final

    from althaia.releases.source import Hooked

_MAGIC: Final = b"althaia\2"
_READ: Final = (
    "source.py",
    "patching.py",
    "digests.py",
    "meanings.py",
    "semantics.toml",
)
"""Our own files on which the code depends, besides the patches."""


def code_of(name: str, source: bytes, path: str, version: str, *, engine: bool) -> Hooked:
    """Return what :func:`althaia.releases.source.hooked` returns, from the cache if possible."""
    head = _head(source, path, version, engine)
    for place in _places(path):
        found = _read(place, head)
        if found is not None:
            return found
    from althaia.releases.source import hooked

    code = hooked(name, source, path, version, engine=engine)
    if not sys.dont_write_bytecode:
        _write(path, head, code)
    return code


def written(path: str) -> str | None:
    """Return where the code of a file is cached, or None."""
    return next(filter(os.path.exists, _places(path)), None)


def _head(source: bytes, path: str, version: str, engine: bool) -> bytes:
    """Return the bytes with which a cached file for this source must begin."""
    about = f"{path}\0{version}\0{sys.flags.optimize}\0{engine}".encode(errors="surrogatepass")
    return b"".join(
        (_MAGIC, MAGIC_NUMBER, source_hash(source), source_hash(about), source_hash(_ours()))
    )


def _ours() -> bytes:
    global _our_files
    if _our_files is None:
        _our_files = b"".join([*map(data_of, _READ), *patch_queue().values()])
    return _our_files


_our_files: bytes | None = None


def data_of(name: str) -> bytes:
    """Return the content of one of our files in this folder."""
    # Not by open(): the package may lie in an archive.
    loader: Any = globals()["__loader__"]
    data: bytes = loader.get_data(os.path.join(os.path.dirname(__file__), *name.split("/")))
    return data


def patch_queue() -> dict[str, bytes]:
    """Return the patches by name, in their order."""
    folder = "patches"
    try:
        series = data_of(f"{folder}/series")
    except OSError:
        # Only a wheel has a copy in the package; a checkout has the queue at its top.
        folder = "../../patches"
        series = data_of(f"{folder}/series")
    lines = (line.strip() for line in series.decode().splitlines())
    return {name: data_of(f"{folder}/{name}") for name in lines if name and name[0] != "#"}


def _read(place: str, head: bytes) -> Hooked | None:
    try:
        with open(place, "rb") as file:
            data = file.read()
        rest = data[len(head) + 8 :]
        if data[: len(head)] != head or data[len(head) : len(head) + 8] != source_hash(rest):
            return None
        found: Hooked = marshal.loads(rest)
        return found
    except (OSError, EOFError, TypeError, ValueError):
        return None


def _write(path: str, head: bytes, code: Hooked) -> None:
    rest = marshal.dumps(code)
    for place in _places(path, make=True):
        if _replace(place, head + source_hash(rest) + rest):
            return


def _replace(place: str, data: bytes) -> bool:
    """Replace a file atomically, so that no other process reads an incomplete one."""
    passing = f"{place}.{os.getpid()}.{id(data)}"
    try:
        handle = os.open(passing, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    except OSError:
        return False
    try:
        with open(handle, "wb") as file:
            file.write(data)
        os.replace(passing, place)
    except OSError:
        from contextlib import suppress

        with suppress(OSError):
            os.unlink(passing)
        return False
    return True


def _places(path: str, *, make: bool = False) -> Iterator[str]:
    """Yield the paths where the code of a file may be stored, the best one first.

    :param make: create the folders
    """
    try:
        beside = cache_from_source(path)
    except NotImplementedError:  # This Python keeps no bytecode.
        return
    folder, name = os.path.split(beside)
    name = f"{name.removesuffix('.pyc')}.althaia.pyc"
    if not make or _make_folder(folder):
        yield os.path.join(folder, name)
    home = _users_folder()
    if home is not None and (not make or _make_folder(home, mode=0o700)) and _is_private(home):
        label = source_hash(path.encode(errors="surrogatepass")).hex()
        yield os.path.join(home, f"{label}.{name}")


def _make_folder(folder: str, mode: int = 0o777) -> bool:
    """Create a folder. Return whether it exists now."""
    try:
        os.makedirs(folder, mode, exist_ok=True)
    except OSError:
        return False
    return True


def _users_folder() -> str | None:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser(os.path.join("~", ".cache"))
    return os.path.join(base, "althaia") if os.path.isabs(base) else None


def _is_private(folder: str) -> bool:
    """Return whether no other user can write to a folder."""
    try:
        status = os.lstat(folder)
    except OSError:
        return False
    if sys.platform == "win32":  # The folder is the user's by its place.
        return True
    return status.st_uid == os.geteuid() and status.st_mode & 0o170077 == 0o040000
