"""Which marshmallow is installed here, and whether our copy may stand in for it.

Asked at interpreter start, so the version is read from the name of a folder:
``importlib.metadata`` would take longer to import than all the rest.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, Final

NAME = "marshmallow"

SAME: Final = "the same release"
SAME_LINE: Final = "another release of the same line"
OTHER_LINE: Final = "another line"
UNKNOWN: Final = "not installed"


class ReleaseError(RuntimeError):
    """Our copy was made from another line of marshmallow than the one that is installed.

    :ivar installed: the installed version; None where there is none.
    :ivar served: the version that our copy was made from.
    """

    def __init__(self, installed: str | None, served: str) -> None:
        self.installed = installed
        self.served = served
        super().__init__(_text(installed, served))


def check() -> None:
    """Do nothing where the installed marshmallow is of the line that our copy was made from.

    :raises ReleaseError: it is of another line, or none is installed.
    """
    made_from = served()
    if made_from is None:
        return  # never built: importing the copy says so
    found = installed()
    if relation(found, made_from) in (OTHER_LINE, UNKNOWN):
        raise ReleaseError(found, made_from)


def relation(found: str | None, made_from: str) -> str:
    """How the installed version stands to the one that our copy was made from.

    >>> relation("4.4.2", "4.4.0")
    'another release of the same line'
    """
    if found is None:
        return UNKNOWN
    if found == made_from:
        return SAME
    return SAME_LINE if line(found) == line(made_from) else OTHER_LINE


def line(version: str) -> str:
    """The first two numbers of a version, within which marshmallow breaks nobody's code.

    >>> line("4.4.0rc1")
    '4.4'
    """
    return ".".join(version.split(".")[:2])


def served() -> str | None:
    """The release that our copy was made from; None where the package was never built."""
    try:
        stamp = _read(os.path.join(os.path.dirname(os.path.dirname(__file__)), "_build_info.json"))
    except OSError:
        return None
    # The file is of our own making and in a known form; json costs more than this whole module.
    return stamp.partition('"upstream": {')[2].partition('"version": "')[2].partition('"')[0]


def installed() -> str | None:
    """The version of the installed marshmallow, found without importing it; None for none."""
    for folder in dict.fromkeys(_folders()):
        try:
            names = os.listdir(folder or os.curdir)
        except NotADirectoryError:
            if version := _in_archive(folder):
                return version
            continue
        except OSError:
            continue  # a folder that is not there
        for name in names:
            if name.lower().startswith(f"{NAME}-") and name.endswith((".dist-info", ".egg-info")):
                return name.rpartition(".")[0].split("-")[1]
    # Found by a finder of somebody else's.
    from importlib import metadata

    try:
        return metadata.version(NAME)
    except metadata.PackageNotFoundError:
        return None


def _in_archive(path: str) -> str | None:
    from importlib import metadata

    for distribution in metadata.distributions(name=NAME, path=[path]):
        return distribution.version
    return None


def _folders() -> Iterator[str]:
    yield from sys.path
    # While a start-up file runs, the folders after its own are not on sys.path yet.
    site = sys.modules.get("site")
    if site is not None and not sys.flags.no_site:
        yield from site.getsitepackages()


def _read(path: str) -> str:
    # Not by open(): the package may lie in an archive.
    loader: Any = globals()["__loader__"]
    data: bytes = loader.get_data(path)
    return data.decode()


def _text(found: str | None, made_from: str) -> str:
    ours = line(made_from)
    wanted = f"pip install 'marshmallow~={ours}.0'"
    if found is None:
        return (
            f"no marshmallow is installed here, and althaia stands in for an installed one "
            f"(its copy is of {made_from}): {wanted}. "
            "althaia.patch(force=True) redirects all the same"
        )
    return (
        f"marshmallow {found} is installed, and althaia's copy is of {made_from}: programs written "
        f"for {line(found)} would get another marshmallow than they ask for. Move the program to "
        f"{ours} ({wanted}), or install an althaia made from {line(found)}. "
        "althaia.patch(force=True) redirects all the same"
    )
