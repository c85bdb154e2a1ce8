"""Caches the code of a patched release between processes.

Like Python's own bytecode it is stored in ``__pycache__`` beside the files, under another name. If
that cannot be written, it is stored in a folder of the user that nobody else can write. It is used
only if it is complete and was made from the same sources by the same althaia for the same Python;
otherwise it is made again.
"""

from __future__ import annotations

import marshal
import os
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import MAGIC_NUMBER, cache_from_source, source_hash

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from althaia.releases.source import Hooked

_MAGIC = b"althaia\3"
_READ = (
    "source.py",
    "patching.py",
    "digests.py",
    "meanings.py",
)
"""Our own files on which the code depends, besides the patches and the semantic lock."""


def code_of(sources: Mapping[str, bytes], folder: str, version: str, *, engine: bool) -> Hooked:
    """Return what :func:`althaia.releases.source.hooked` returns, from the cache if possible."""
    queue, lock = patch_queue(), data_of("semantics.toml")
    ours = b"".join([*map(data_of, _READ), lock, *queue.values()])
    about = f"{folder}\0{version}\0{sys.flags.optimize}\0{engine}\0{' '.join(sources)}"
    made_from = (about.encode(errors="surrogatepass"), b"\0".join(sources.values()), ours)
    head = b"".join([_MAGIC, MAGIC_NUMBER, *map(source_hash, made_from)])
    for place in _places(folder):
        found = _read(place, head)
        if found is not None:
            return found
    from althaia.releases.source import hooked

    code = hooked(sources, folder, version, queue, lock, engine=engine)
    if not sys.dont_write_bytecode:
        rest = marshal.dumps(code)
        for place in _places(folder):
            # It replaces the file atomically, and says nothing where it cannot.
            SourceFileLoader("", place).set_data(place, _whole(head, rest))
            if _read(place, head) is not None:
                break
    return code


def written(path: str) -> str | None:
    """Return where the code of a release is cached, or None.

    :param path: one of its files
    """
    return next(filter(os.path.exists, _places(os.path.dirname(path))), None)


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


def _whole(head: bytes, rest: bytes) -> bytes:
    return head + source_hash(rest) + rest


def _read(place: str, head: bytes) -> Hooked | None:
    try:
        with open(place, "rb") as file:
            data = file.read()
        rest = data[len(head) + 8 :]
        found: Hooked | None = marshal.loads(rest) if data == _whole(head, rest) else None
        return found
    except (OSError, EOFError, TypeError, ValueError):
        return None


def _places(folder: str) -> Iterator[str]:
    """Yield the paths where the code of a release may be stored, the best one first."""
    try:
        beside = cache_from_source(os.path.join(folder, "marshmallow.py"))
    except NotImplementedError:  # This Python keeps no bytecode.
        return
    beside = f"{beside.removesuffix('.pyc')}.althaia.pyc"
    yield beside
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser(os.path.join("~", ".cache"))
    home = os.path.join(base, "althaia")
    if os.path.isabs(base) and _is_private(home):
        label = source_hash(folder.encode(errors="surrogatepass")).hex()
        yield os.path.join(home, f"{label}.{os.path.basename(beside)}")


def _is_private(folder: str) -> bool:
    """Return whether no other user can write to a folder, which is made if code may be cached."""
    try:
        if not sys.dont_write_bytecode:
            os.makedirs(folder, 0o700, exist_ok=True)
        status = os.lstat(folder)
    except OSError:
        return False
    if sys.platform == "win32":  # The folder is the user's by its place.
        return True
    return status.st_uid == os.geteuid() and status.st_mode & 0o170077 == 0o040000
