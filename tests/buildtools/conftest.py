"""The real queue, lock and sources, read once."""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

from buildtools import fetch, lock, upstream
from buildtools.layout import Layout
from buildtools.modules import CompiledModule, compiled_modules
from buildtools.pipeline import is_pure
from buildtools.queue import read_series
from buildtools.shipped import patching

ROOT = Path(__file__).resolve().parents[2]

needs_c = pytest.mark.skipif(is_pure(os.environ), reason="a pure build has no C sources")


def c_sources(layout: Layout) -> Iterator[tuple[CompiledModule, str]]:
    """The modules that were compiled, and the C source of each."""
    tag = sysconfig.get_config_var("EXT_SUFFIX").strip(".").rsplit(".", 1)[0]
    for module in compiled_modules(layout):
        path = (layout.work / tag / "c" / module.source).with_suffix(".c")
        if path.is_file():
            yield module, path.read_text("utf-8")


@pytest.fixture(scope="session")
def layout() -> Layout:
    return Layout(ROOT)


@pytest.fixture(scope="session")
def locked(layout: Layout) -> lock.Lock:
    return lock.read(layout.lock)


@pytest.fixture(scope="session")
def queue(layout: Layout) -> list[patching.Patch]:
    return read_series(layout.patches)


@pytest.fixture(scope="session")
def pinned(layout: Layout, locked: lock.Lock) -> upstream.Upstream:
    """The pinned release, from its sdist; the digests in the lock hold for it as well."""
    return upstream.from_folder(fetch.fetch(locked, layout.lock.parent))


@pytest.fixture(scope="session")
def older_line(layout: Layout, locked: lock.Lock) -> upstream.Upstream:
    return upstream.from_folder(fetch.fetch(locked, layout.lock.parent, "3.26.2"))
