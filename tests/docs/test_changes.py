"""The changelog is short, and what will be in the next one is in files of the right form."""

from __future__ import annotations

import re

from tests.docs.conftest import ROOT

KINDS = {"Added", "Changed", "Deprecated", "Fixed", "Removed", "Security"}
NAME = re.compile(r"[a-z0-9][a-z0-9-]*\.(added|changed|fixed|removed)\.md")


def test_fragments_have_names_and_one_line() -> None:
    for path in (ROOT / "changes").iterdir():
        if path.name in ("README.md", "template.jinja"):
            continue
        assert NAME.fullmatch(path.name), path.name
        text = path.read_text("utf-8").strip()
        assert text.endswith("."), f"{path.name} is no sentence"
        assert "\n\n" not in text, f"{path.name} is more than a paragraph"


def test_the_changelog_is_of_the_form_it_names() -> None:
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert "<!-- towncrier release notes start -->\n" in text
    releases = re.split(r"^## ", text, flags=re.M)[1:]
    assert releases[0].startswith("5.0.0 - ")
    for release in releases:
        assert set(re.findall(r"^### (.+)$", release, re.M)) <= KINDS
        assert len(re.findall(r"^- ", release, re.M)) <= 12
