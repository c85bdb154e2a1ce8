"""The site builds without a warning and holds what it is made from: parsers, variables, API."""

import re

import pytest

import althaia
from tests.docs.conftest import ROOT
from tests.redirect import processes

pytestmark = pytest.mark.slow


def page(site, name):
    return (site / f"{name}.html").read_text("utf-8")


def test_pages_show_what_the_source_says_today():
    """They are committed, because GitHub and the package index run nothing."""
    done = processes.run("-W", "ignore", "docs/made.py", "--check", cwd=ROOT, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_variable_and_public_name_is_there(site):
    shown = page(site, "environment")
    for source in (ROOT / "althaia").rglob("*.py"):
        if "marshmallow" in source.relative_to(ROOT / "althaia").parts:
            continue
        for name in re.findall(r"\bALTHAIA_[A-Z]+(?:_[A-Z]+)*\b", source.read_text("utf-8")):
            assert name in shown, f"{name} in {source.name}"
    shown = page(site, "api") + page(site, "exceptions")
    for name in althaia.__all__:
        assert name.startswith("_") or f"althaia.{name}" in shown, name
    # Options keep both hyphens.
    assert "–source" not in page(site, "commands")
