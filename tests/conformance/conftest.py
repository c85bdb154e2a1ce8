"""What several files of scenarios run under."""

import inspect
import os

import pytest

import althaia
from tests.conformance.harness import MODES, engine, scenario


def pytest_pycollect_makeitem(collector, name, obj, prepare=lambda test: test):
    """Run each test of ``(ma, log, ...)`` as a scenario, in the ``MODES`` of its file.

    :param prepare: what another folder's tests are wrapped in before.
    """
    if not name.startswith("test_") or not inspect.isfunction(obj):
        return None
    if list(inspect.signature(obj).parameters)[:2] != ["ma", "log"]:
        return None
    made = scenario(prepare(obj), getattr(collector.module, "MODES", MODES))
    setattr(collector.obj, name, made)
    hook = collector.ihook.pytest_pycollect_makeitem
    return hook(collector=collector, name=name, obj=made)


@pytest.fixture(params=["shared plans", "own plans"])
def hooked_at_once(request):
    """Instances of classes with an ``on_bind_field`` go by a prototype from the first use on, or
    always by their own plan."""
    if engine is None:
        yield
        return
    from althaia.engine.instances import run_hooked_at_once

    run_hooked_at_once(request.param == "shared plans")
    yield
    run_hooked_at_once(False)


@pytest.fixture(autouse=True)
def profiled():
    """``TEST_PROFILE=1``: all scenarios run while their time is measured."""
    if not os.environ.get("TEST_PROFILE"):
        yield
        return
    with althaia.profile():
        yield
