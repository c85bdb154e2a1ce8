"""The real queue, lock and sources, read once."""

import os
import re
import sysconfig
from pathlib import Path

import pytest

from buildtools import fetch, lock, upstream
from buildtools.layout import Layout
from buildtools.modules import compiled_modules
from buildtools.pipeline import is_pure
from buildtools.queue import read_series

ROOT = Path(__file__).resolve().parents[2]

needs_c = pytest.mark.skipif(is_pure(os.environ), reason="a pure build has no C sources")


def c_sources(layout):
    tag = sysconfig.get_config_var("EXT_SUFFIX").strip(".").rsplit(".", 1)[0]
    for module in compiled_modules(layout):
        path = (layout.work / tag / "c" / module.source).with_suffix(".c")
        if path.is_file():
            yield module, path.read_text("utf-8")


@pytest.fixture(scope="session")
def layout():
    return Layout(ROOT)


@pytest.fixture(scope="session")
def locked(layout):
    return lock.read(layout.lock)


@pytest.fixture(scope="session")
def queue(layout):
    return read_series(layout.patches)


@pytest.fixture(scope="session")
def pinned(layout, locked):
    """The pinned release, from its sdist; the digests in the lock hold for it as well."""
    return upstream.from_folder(fetch.fetch(locked, layout.lock.parent))


@pytest.fixture(scope="session")
def older_line(layout, locked):
    return upstream.from_folder(fetch.fetch(locked, layout.lock.parent, "3.26.2"))


def forget(table, *names):
    """Take what is recorded of other releases' functions out of a table of meanings.

    :param names: as in the table: ``fields.TimeDelta._serialize``
    """
    for name in names:
        text = table.read_text("utf-8")
        kept = re.sub(rf'\[\w+\."{re.escape(name)}"\]\n(?:[^\[\n].*\n)*\n?', "", text)
        assert kept != text
        table.write_text(kept, "utf-8")
