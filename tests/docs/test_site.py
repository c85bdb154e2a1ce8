"""The site builds without a warning and holds what it is made from: parsers, variables, API."""

from __future__ import annotations

import argparse
import re
import shutil
import struct
import subprocess
import zlib
from pathlib import Path

import pytest

import althaia
from althaia import cli
from tests.docs.conftest import ROOT

pytestmark = pytest.mark.slow

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def page(site: Path, name: str) -> str:
    return (site / f"{name}.html").read_text("utf-8")


def test_every_option_of_every_command_is_there(site: Path) -> None:
    shown = page(site, "commands")
    for command in cli.COMMANDS:
        module = cli.module_of(command)
        if not hasattr(module, "configure"):
            continue
        parser = argparse.ArgumentParser(command)
        module.configure(parser)
        for action in parser._actions:
            if action.help == argparse.SUPPRESS:
                continue
            for name in action.option_strings:
                assert name in shown, f"{command} {name}"


def test_every_variable_is_there(site: Path) -> None:
    shown = page(site, "environment")
    for source in (ROOT / "althaia").rglob("*.py"):
        if "marshmallow" in source.relative_to(ROOT / "althaia").parts:
            continue
        for name in re.findall(r"\bALTHAIA_[A-Z]+(?:_[A-Z]+)*\b", source.read_text("utf-8")):
            assert name in shown, f"{name} in {source.name}"


def test_every_public_name_is_there(site: Path) -> None:
    shown = page(site, "api") + page(site, "exceptions")
    for name in althaia.__all__:
        if not name.startswith("_"):
            assert f'id="althaia.{name}"' in shown, name


def test_the_charts_have_a_bar_for_each_row(site: Path) -> None:
    shown = page(site, "performance")
    assert shown.count('<figure class="chart">') == 3
    assert shown.count('class="bar"') > 30


def test_the_page_of_performance_is_short() -> None:
    assert len((ROOT / "docs" / "performance.md").read_text("utf-8").split()) <= 1500


def test_pages_say_first_what_they_are_for(site: Path) -> None:
    for source in sorted((ROOT / "docs").glob("*.md")):
        lines = source.read_text("utf-8").splitlines()
        if lines[0].startswith("```{include}"):
            continue
        assert lines[0].startswith("# "), source.name
        if source.name != "index.md":
            assert lines[2].startswith("For "), f"{source.name} does not say first for whom it is"


def test_options_keep_both_hyphens(site: Path) -> None:
    assert "–source" not in page(site, "commands")


@pytest.mark.parametrize("name", ["index", "install", "performance"])
def test_a_browser_shows_it(site: Path, name: str, tmp_path: Path) -> None:
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        pytest.skip("no chromium")
    shot = tmp_path / f"{name}.png"
    subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}/u",
         "--window-size=1280,1600", f"--screenshot={shot}", f"file://{site}/{name}.html"],
        check=True, capture_output=True, timeout=120,
    )  # fmt: skip
    width, height, colours = looked_at(shot)
    assert (width, height) == (1280, 1600)
    assert colours > 100, "the page is empty"


def looked_at(png: Path) -> tuple[int, int, int]:
    """Width, height and the number of different runs of four bytes in a picture."""
    data = png.read_bytes()
    width, height = struct.unpack(">II", data[16:24])
    packed, at = b"", 8
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at : at + 8])
        if kind == b"IDAT":
            packed += data[at + 8 : at + 8 + size]
        at += size + 12
    raw = zlib.decompress(packed)
    return width, height, len({raw[i : i + 4] for i in range(0, len(raw), 4)})
