"""What several files of scenarios run under."""

from __future__ import annotations

import os

import pytest

import althaia
from tests.conformance.harness import engine


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
