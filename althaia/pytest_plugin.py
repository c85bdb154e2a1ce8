"""Run a test suite on the compiled copy: ``pytest -p althaia.pytest_plugin``.

In a configuration file: ``addopts = "-p althaia.pytest_plugin"``. Loading the plugin
redirects marshmallow, before any conftest or test module is imported.
"""

from __future__ import annotations

import pytest
from _pytest import config

import althaia
from althaia.switch import redirect
from althaia.switch.config import ConfigError
from althaia.switch.installed import ReleaseError


def _activate() -> None:
    how = "-p althaia.pytest_plugin"
    try:
        redirect.patch(how=how)
    except (ConfigError, ReleaseError) as error:
        raise pytest.UsageError(str(error)) from None
    except redirect.LatePatchError as error:
        if error.holders:
            raise pytest.UsageError(
                f"{error}\nSince pytest 9, the classes that filterwarnings names are imported "
                "before any plugin: run 'python -m althaia -m pytest', or set ALTHAIA_PATCH=1."
            ) from None
        # Only a class of marshmallow's own was looked up, for filterwarnings. Nobody holds the
        # library yet, and pytest parses the filters again for each test, unless it remembers.
        redirect.patch(force=True, how=how)
        getattr(config.parse_warning_filter, "cache_clear", bool)()


def pytest_report_header() -> str:
    """One line at the top of the run: which marshmallow is tested."""
    info = althaia.info()
    if not info.patched:
        return f"althaia {info.version}: switched off, marshmallow is not redirected"
    kind = "compiled" if info.compiled else "not compiled"
    return f"althaia {info.version}: marshmallow {info.upstream} is redirected, {kind}"


_activate()
