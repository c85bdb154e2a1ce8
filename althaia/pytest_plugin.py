"""Run a test suite on the compiled copy: ``pytest -p althaia.pytest_plugin``.

In a configuration file: ``addopts = "-p althaia.pytest_plugin"``. Loading the plugin
redirects marshmallow, before any conftest or test module is imported.

With ``--althaia-compare`` upstream's own code runs a second time in every dump and load of the
suite, plans are made at the first use of a schema, and a difference fails the test.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest
from _pytest import config

import althaia
from althaia.switch import doubles, redirect

if TYPE_CHECKING:
    from althaia.trust.compare import Finding

_found: list[Finding] = []
"""The differences since the last report of a test's phase."""

_workers: list[dict[str, Any]] = []
"""What the workers of pytest-xdist have counted."""


def _activate() -> None:
    how = "-p althaia.pytest_plugin"
    try:
        redirect.switch_on(how)
    except redirect.LatePatchError as error:
        if error.holders:
            raise pytest.UsageError(
                f"{error}\nSince pytest 9, the classes that filterwarnings names are imported "
                "before any plugin: run 'python -m althaia -m pytest', or set ALTHAIA_PATCH=1."
            ) from None
        # Only a class of marshmallow's own was looked up, for filterwarnings. Nobody holds the
        # library yet, and pytest parses the filters again for each test, unless it remembers.
        redirect.switch_on(how, force=True)
        getattr(config.parse_warning_filter, "cache_clear", bool)()
    except redirect.REFUSALS as error:
        raise pytest.UsageError(str(error)) from None


def pytest_configure(config: pytest.Config) -> None:
    """Now that all plugins are loaded: mocks know compiled functions, and answers are compared
    where that is asked for."""
    if redirect.is_patched():
        doubles.teach()
    if config.getoption("althaia_compare"):
        from althaia.trust import compare, seam_layers

        seam_layers.plan_at_once()
        compare.compare(1.0)
        compare.session().on_every = _found.append


def pytest_report_header() -> str:
    """One line at the top of the run: which marshmallow is tested."""
    info = althaia.info()
    if not info.patched:
        return f"althaia {info.version}: switched off, marshmallow is not redirected"
    kind = info.served.how if info.compiled else "not compiled"
    return f"althaia {info.version}: marshmallow {info.served.version} is redirected, {kind}"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("althaia").addoption(
        "--althaia-compare",
        action="store_true",
        help="in every dump and load let marshmallow's own code run, too; a difference fails "
        "the test",
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fail the test in which answers differed, whatever it says itself."""
    report = yield
    if not _found:
        return report
    text = "\n".join(f"althaia: {finding}" for finding in _found)
    _found.clear()
    if report.failed:
        report.sections.append(("althaia compare", text))
    else:
        # An expected failure is none of this kind.
        report.__dict__.pop("wasxfail", None)
        report.outcome = "failed"
        report.longrepr = text
    return report


def pytest_sessionfinish(session: pytest.Session) -> None:
    output = getattr(session.config, "workeroutput", None)
    if output is not None and session.config.getoption("althaia_compare"):
        output["althaia_compare"] = althaia.compare_report().as_dict()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    counted = getattr(node, "workeroutput", {}).get("althaia_compare")
    if counted is not None:
        _workers.append(counted)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """How many calls were compared: none is worth knowing, too."""
    if not config.getoption("althaia_compare"):
        return
    from althaia.trust.compare import sum_of

    report = sum_of(_workers or [althaia.compare_report().as_dict()])
    terminalreporter.write_line(f"althaia: {report.as_text()}")


_activate()
