"""What the package index shows: every link leads somewhere, from there as well."""

import re
import tomllib

from tests.packaging.conftest import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
FILES = PROJECT["urls"]["Homepage"] + "/blob/main/"


def test_links_work_on_the_package_index():
    links = re.findall(r"\]\(([^)]+)\)", (ROOT / "README.md").read_text("utf-8"))
    assert len(links) > 8
    for link in [*links, *PROJECT["urls"].values()]:
        assert link.startswith("https://"), f"{link}: the package index has no such page"
        if link.startswith(FILES):
            path = link.removeprefix(FILES).partition("#")[0]
            assert (ROOT / path).is_file(), link


def test_links_within_the_documentation_lead_somewhere():
    for page in [*(ROOT / "docs").glob("*.md"), *ROOT.glob("*.md")]:
        for link in re.findall(r"\]\((?!https?://|#)([^)#]+)[^)]*\)", page.read_text("utf-8")):
            assert (page.parent / link).exists(), f"{page.name}: {link}"
