"""The pages for maintainers name files and folders that exist."""

from __future__ import annotations

import re

import pytest

from tests.docs.conftest import ROOT

PAGES = (
    "CONTRIBUTING.md",
    "docs/architecture.md",
    "docs/how-it-works.md",
    "docs/patches.md",
    "patches/README.md",
)
BASES = ("", "buildtools", "althaia", "althaia/engine", "althaia/cpython")
NAMED = re.compile(r"`([\w./-]+(?:/|\.(?:py|pyx|pxd|h|toml|md)))`")


def exists(name: str) -> bool:
    return any((ROOT / base / name).exists() for base in BASES)


@pytest.mark.parametrize("page", PAGES)
def test_named_files_exist(page: str) -> None:
    named = [
        name
        for name in NAMED.findall((ROOT / page).read_text("utf-8"))
        if "/" in name and not name.startswith(("changes/", "DIR/"))
    ]
    assert named
    assert [name for name in named if not exists(name)] == []


def test_the_map_shows_every_part_of_the_package() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    shown = page.split("```")[1]
    names = set(re.findall(r"[\w]+", "\n".join(line[:34] for line in shown.splitlines())))
    package = ROOT / "althaia"
    parts = {
        path.name.partition(".")[0]
        for folder in (package, package / "engine", package / "formats")
        for path in folder.iterdir()
        if path.suffix in {".py", ".pyx"} or (path.is_dir() and (path / "__init__.py").exists())
    }
    # PyInstaller finds its folder by itself; the page describes the others in "A format".
    parts -= {"_pyinstaller", "keys", "registry", "sink", "tape"}
    assert parts - names == set(), "enter them in the map of docs/architecture.md"
