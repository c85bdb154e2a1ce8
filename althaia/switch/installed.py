"""Finds which marshmallow is installed, and from which one our copy was made.

This runs at interpreter start. Where the package is found, the version is read from the name of the
folder beside it: importing ``importlib.metadata`` would take longer than all the rest.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

NAME = "marshmallow"
OLDEST = "3.13"
"""The oldest release that is served."""


class ReleaseError(RuntimeError):
    """No marshmallow is installed, or one that is too old.

    :ivar served: the version that our copy was made from; empty in a pure build, which has no copy.
    """

    def __init__(self, served: str, found: str = "") -> None:
        self.served = served
        if found:
            super().__init__(
                f"marshmallow {found} is installed here, and althaia serves {OLDEST} and newer: "
                f"pip install 'marshmallow>={OLDEST}'"
            )
            return
        text = (
            "no marshmallow is installed here, and althaia serves the one that is: "
            "pip install marshmallow"
        )
        if served:
            text += (
                f". althaia.patch(force=True) redirects all the same, to althaia's copy of {served}"
            )
        super().__init__(text)


def served() -> str | None:
    """Return the release from which our copy was made; empty in a pure build, which has no copy;
    None if the package was never built."""
    found = build_info()
    upstream = found.get("upstream") or {"version": ""}
    return str(upstream["version"]) if found else None


def installed() -> str | None:
    """Return the version of the installed marshmallow without importing it, or None."""
    from importlib import metadata

    # While a start-up file runs, the folders after its own are not on sys.path yet.
    site = sys.modules.get("site")
    later = site.getsitepackages() if site is not None and not sys.flags.no_site else []
    found = metadata.distributions(name=NAME, path=[*sys.path, *later])
    return next((each.version for each in found), None)


def is_too_old(version: str) -> bool:
    """Return whether a release is older than those that are served.

    >>> is_too_old("3.9.1"), is_too_old("3.0b4"), is_too_old("3.13.0"), is_too_old("unknown")
    (True, True, False, False)
    """
    heads = [part[: len(part) - len(part.lstrip("0123456789"))] for part in version.split(".")]
    oldest = [int(part) for part in OLDEST.split(".")]
    return bool(heads[0]) and [int(head or 0) for head in heads[:2]] < oldest


def check(location: str | None) -> None:
    """Refuse to serve no release, or one that is too old.

    :param location: the file of the installed package, if it was found
    :raises ReleaseError: that is so.
    """
    beside = version_beside(location) if location else installed()
    if not location and not beside:
        raise ReleaseError(served() or "")
    if beside and is_too_old(beside):
        raise ReleaseError(served() or "", beside)


def version_beside(location: str) -> str | None:
    """Return the version by the metadata that lie beside the package.

    :param location: a file in the package's folder
    """
    try:
        names = os.listdir(os.path.dirname(os.path.dirname(location)) or os.curdir)
    except OSError:
        return None  # a folder that is not there, or an archive
    for name in names:
        if name.lower().startswith(f"{NAME}-") and name.endswith((".dist-info", ".egg-info")):
            return name.rpartition(".")[0].split("-")[1]
    return None


def build_info() -> dict[str, Any]:
    """Return what the build has recorded; empty if the package was never built."""
    import json

    # Not by open(): the package may lie in an archive.
    loader: Any = globals()["__loader__"]
    package = os.path.dirname(os.path.dirname(__file__))
    try:
        data: bytes = loader.get_data(os.path.join(package, "_build_info.json"))
    except OSError:
        return {}
    found: dict[str, Any] = json.loads(data)
    return found
