"""Sphinx's configuration: ``make docs`` builds the site from the pages beside this file."""

from __future__ import annotations

import os
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE / "_ext")]

PROJECT = tomllib.loads((HERE.parent / "pyproject.toml").read_text("utf-8"))["project"]

project = "althaia"
author = "the althaia developers"
project_copyright = author
version = release = PROJECT["version"]

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.intersphinx",
    "althaia_pages",
]
exclude_patterns = ["_build", "_ext"]

myst_enable_extensions = ["colon_fence", "deflist", "substitution"]
# Options begin with two hyphens, which would become a dash.
smartquotes = False

# Links to headings are checked, down to the third level.
myst_heading_anchors = 3
myst_substitutions = {"version": version}

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
# A page about an adapter needs no framework.
autodoc_mock_imports = ["connexion", "django", "flask", "quart", "starlette"]

# A build without a network has no links to other sites, and is otherwise the same.
intersphinx_mapping = (
    {
        "python": ("https://docs.python.org/3", None),
        "marshmallow": ("https://marshmallow.readthedocs.io/en/stable", None),
    }
    if os.environ.get("DOCS_ONLINE") == "1"
    else {}
)

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
