"""Check upstream's files against ``vendor/marshmallow/lock.toml``.

The lock says, for the pinned release: its version, the hashes of its archives, and for each
file its sha256.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from buildtools.errors import BuildError
from buildtools.upstream import Upstream

BUMP = "if this is a deliberate change of release, follow vendor/marshmallow/README.md"


@dataclass(frozen=True)
class Lock:
    """The pinned release as it was looked at by a maintainer."""

    version: str
    sdist_sha256: str
    wheel_sha256: str
    files: Mapping[str, str]
    """The sha256 of each file."""
    tried: Mapping[str, str]
    """Other releases the patch queue must fit: version to hash of the sdist."""
    suites: Mapping[str, int]
    """How many tests each release's own suite holds, counted on the real marshmallow."""


def digest(data: bytes) -> str:
    return sha256(data).hexdigest()


def read(path: Path) -> Lock:
    """Parse a lock file.

    :raises BuildError: it is missing or lacks an entry
    """
    try:
        table = tomllib.loads(path.read_text("utf-8"))
        return Lock(**{"tried": {}, "suites": {}, **table})
    except (OSError, TypeError, tomllib.TOMLDecodeError) as error:
        raise BuildError(str(path), f"no usable lock file ({error})", BUMP) from error


def check(lock: Lock, upstream: Upstream) -> None:
    """Compare the release, the list of files and each file's digest with the lock.

    :raises BuildError: naming the first thing that differs
    """
    if upstream.version != lock.version:
        raise BuildError(
            upstream.origin, f"expected release {lock.version}, found {upstream.version}", BUMP
        )
    for name in sorted(lock.files.keys() | upstream.files.keys()):
        if name not in upstream.files:
            raise BuildError(name, f"is in the lock and not in {upstream.origin}", BUMP)
        if name not in lock.files:
            raise BuildError(name, f"is in {upstream.origin} and not in the lock", BUMP)
        found = digest(upstream.files[name])
        if found != lock.files[name]:
            raise BuildError(
                name,
                f"expected sha256 {lock.files[name]}, found {found} in {upstream.origin}",
                f"reinstall marshmallow=={lock.version} from a source you trust; {BUMP}",
            )


def render(lock: Lock) -> str:
    """The text of a lock file."""
    lines = [
        "# The upstream release this tree is built from. README.md says how to change it.",
        f'version = "{lock.version}"',
        f'sdist_sha256 = "{lock.sdist_sha256}"',
        f'wheel_sha256 = "{lock.wheel_sha256}"',
    ]
    for name, says in _TABLES.items():
        entries: Mapping[str, str | int] = getattr(lock, name)
        lines += ["", f"# {says}", f"[{name}]"]
        lines += [f'"{key}" = {json.dumps(value)}' for key, value in sorted(entries.items())]
    return "\n".join(lines) + "\n"


_TABLES = {
    "files": "The sha256 of each file.",
    "tried": "Other releases that the patch queue must fit: hash of the sdist.",
    "suites": "How many tests each release's own suite holds, counted on the real marshmallow.",
}
