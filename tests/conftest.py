"""What every test here relies on: the build that is meant, and hypothesis' profiles."""

import collections
import datetime
import functools
import gc
import os
import random
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests import releases

pytest_plugins = ["tests.failures"]

_RELAXED = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
settings.register_profile("default", max_examples=40, deadline=None, suppress_health_check=_RELAXED)
settings.register_profile(
    "thorough", max_examples=300, deadline=None, suppress_health_check=_RELAXED
)
settings.register_profile(
    "nightly", max_examples=20_000, deadline=None, suppress_health_check=_RELAXED
)
PURE = os.environ.get("ALTHAIA_PURE_BUILD") == "1"
if PURE:
    # There upstream's code is compared with itself, but for the patches and the rename.
    settings.register_profile("default", settings.get_profile("default"), max_examples=25)
    # These say nothing of what was built, build both kinds themselves, or attack compiled code:
    # upstream's own code, interpreted, is CPython's to keep alive.
    collect_ignore = [
        "benchmarks",
        "buildtools",
        "bulk/test_dask.py",
        "docs",
        "hostile",
        "leaks",
        "packaging",
        "test_failures.py",
        "test_layers.py",
        "test_branches.py",
        "test_index.py",
    ]
_SLOW_IF_PURE = (
    # A pure build runs upstream's code alone in them.
    *("invalidation", "sources", "plans", "conformance/test_load_", "conformance/test_values"),
    # They start processes, and little of what they ask depends on the build.
    *("adapters", "bulk", "cli", "redirect", "streams", "threads", "trust"),
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

RELEASE = os.environ.get("ALTHAIA_TEST_RELEASE", "")
"""The release of marshmallow to test with, in the place of the installed one."""
if RELEASE:
    # Before anything imports marshmallow, and for processes that tests start.
    _folder = releases.installed(RELEASE)
    sys.path.insert(0, str(_folder))
    os.environ["PYTHONPATH"] = os.pathsep.join(
        [str(_folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    )


SAMPLE = 8
"""How many parameters of a test run each day; all run in `make test-slow`."""
DAY = os.environ.setdefault("TEST_DAY", str(datetime.date.today()))
"""Draws them. In the environment for the other processes of a run, and to repeat a run."""


def _left_out_today(items):
    """The parameters that the day's sample lacks, of tests that are not in ``quick.txt``."""
    quick = Path(__file__).with_name("quick.txt").read_text("utf-8").split()
    cases = collections.defaultdict(list)
    for item in items:
        name = item.nodeid.partition("[")[0]
        if name not in quick and name.partition("::")[0] not in quick:
            cases[name].append(item)
    return {
        item
        for name, each in cases.items()
        for item in random.Random(DAY + name).sample(each, max(0, len(each) - SAMPLE))
    }


def pytest_collection_modifyitems(items):
    folder = os.path.dirname(__file__)
    slow_if_pure = tuple(os.path.join(folder, each) for each in _SLOW_IF_PURE)
    for item in _left_out_today(items):
        item.add_marker(pytest.mark.slow)
    for item in items:
        # Without plans a scenario asks a compiled copy of upstream's code.
        if str(item.path).startswith(slow_if_pure) if PURE else "no-plans" in item.name:
            item.add_marker(pytest.mark.slow)


@pytest.fixture
def program(tmp_path):
    """Runs a program that is not redirected, in a process of its own."""
    from tests.redirect import processes

    return functools.partial(processes.program, cwd=tmp_path)


def pytest_report_header(config):
    from althaia.marshmallow import schema

    kind = "pure Python" if str(schema.__file__).endswith(".py") else "compiled"
    plans = "off" if os.environ.get("ALTHAIA_PLANS") == "0" else "on"
    return (
        f"althaia: {kind}, plans {plans}, hypothesis profile {settings._current_profile}, "
        f"sample of {DAY}"
    )


def pytest_collection_finish():
    """Keep the collector away from 20,000 tests that live to the end of the run."""
    if hasattr(gc, "freeze"):
        gc.collect()
        gc.freeze()
