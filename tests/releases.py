"""Other releases of marshmallow, as folders to put first on the search path of a process."""

import datetime
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from buildtools import fetch, lock
from buildtools.layout import Layout

ROOT = Path(__file__).resolve().parents[1]
LOCK = lock.read(Layout(ROOT).lock)

SERVED = LOCK.version
"""The release that the compiled copy is made from."""
OLD = [version for version in LOCK.tried if version < "3.26"]
"""Releases of which tests ask two, other ones each day."""
DAY = datetime.date.fromisoformat(os.environ.get("TEST_DAY") or str(datetime.date.today()))
OF_THE_DAY = [OLD[(2 * DAY.toordinal() + each) % len(OLD)] for each in (0, 1)]
TESTED = [
    version
    for version in LOCK.tried
    if version not in OLD or version in OF_THE_DAY or os.environ.get("TEST_ALL_RELEASES")
]
"""Without ``TEST_ALL_RELEASES=1`` those of the day, and all from 3.26 on."""


def install(folder, version, *, label=None):
    """Put a release into a folder, as an installer does.

    :param label: what its metadata say, where that is not its version
    """
    source = fetch.fetch(LOCK, Layout(ROOT).lock.parent, version) / "src" / "marshmallow"
    shutil.copytree(source, folder / "marshmallow", ignore=shutil.ignore_patterns("__pycache__"))
    label = label or version
    information = folder / f"marshmallow-{label}.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(f"Name: marshmallow\nVersion: {label}\n", "utf-8")
    return folder


def installed(version):
    """A folder with a release, as :func:`install` makes it, kept from one run to the next."""
    folder = fetch.fetch(LOCK, Layout(ROOT).lock.parent, version) / "site"
    if not folder.is_dir():
        with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
            made = install(Path(scratch) / "site", version)
            # Another process may have been faster.
            with suppress(OSError):
                made.replace(folder)
    return folder


if __name__ == "__main__":
    print(*OF_THE_DAY)
