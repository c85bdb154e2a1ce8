"""The site, built once a run."""

import os
from pathlib import Path

import pytest

from tests.once import once
from tests.redirect import processes

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The folder of the built site; a warning of Sphinx's is an error."""
    if os.environ.get("ALTHAIA_PURE_BUILD"):
        pytest.skip("the site is the same: it is built where the engine is")
    for module in ("sphinx", "myst_parser", "furo"):
        pytest.importorskip(module, reason="the docs extra is not installed")

    def make(folder):
        built = processes.run(
            "-m", "sphinx", "-W", "--keep-going", "-q", "docs", str(folder), cwd=ROOT, timeout=300
        )
        assert built.returncode == 0, built.stderr

    return once(tmp_path_factory, "site", make)
