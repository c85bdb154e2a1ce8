"""Sphinx's configuration: ``make docs`` builds the site from the pages beside this file."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
# The order in the site's menu. Not in index.md, which people read on GitHub.
MENU = {
    "Use": "install quickstart worth-it switching-on profile rollout deploying tools adapters json "
    "many-machines serving differences faq coming-from-4.3",
    "Reference": "api commands environment exceptions releases",
    "Measured": "performance performance-applications performance-service performance-files "
    "performance-wire performance-tables threads security",
    "Inside": "how-it-works architecture patches releasing contributing changelog",
}
PROJECT = tomllib.loads((HERE.parent / "pyproject.toml").read_text("utf-8"))["project"]

project = "althaia"
author = "the althaia developers"
project_copyright = author
version = release = PROJECT["version"]

extensions = ["myst_parser"]
exclude_patterns = ["_build"]

myst_enable_extensions = ["colon_fence", "deflist", "substitution"]
# Options begin with two hyphens, which would become a dash.
smartquotes = False

# Links to headings are checked, down to the third level.
myst_heading_anchors = 3
myst_substitutions = {"version": version}

html_theme = "furo"
html_title = f"althaia {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_theme_options = {
    "source_repository": PROJECT["urls"]["Homepage"],
    "source_branch": "main",
    "source_directory": "docs/",
}


def setup(app: Any) -> None:
    """Add the menu to the first page while it is read."""
    app.connect("source-read", _add_menu)


def _add_menu(app: Any, page: str, source: list[str]) -> None:
    if page == "index":
        for caption, pages in MENU.items():
            listed = "\n".join(pages.split())
            source[0] += f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{listed}\n```\n"
