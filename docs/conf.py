"""Sphinx's configuration: ``make docs`` builds the site from the pages beside this file."""

from __future__ import annotations

import tomllib
from pathlib import Path

HERE = Path(__file__).parent
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
