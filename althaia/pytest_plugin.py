"""Run a test suite on the compiled copy: ``pytest -p althaia.pytest_plugin``.

In a configuration file: ``addopts = "-p althaia.pytest_plugin"``. Loading the plugin
redirects marshmallow. pytest loads ``-p`` plugins before it reads ``filterwarnings`` and
before any conftest, either of which may import marshmallow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import althaia
from althaia import redirect

if TYPE_CHECKING:
    import pytest

redirect.patch(how="-p althaia.pytest_plugin")


def pytest_report_header(config: pytest.Config) -> str:
    """One line at the top of the run: which marshmallow is tested."""
    info = althaia.info()
    if not info.patched:
        return f"althaia {info.version}: switched off, marshmallow is not redirected"
    kind = "compiled" if info.compiled else "not compiled"
    return f"althaia {info.version}: marshmallow {info.upstream} is redirected, {kind}"
