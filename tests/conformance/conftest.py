"""What several files of scenarios run under."""

from __future__ import annotations

import os

import pytest

import althaia
from tests.conformance.harness import engine


@pytest.fixture(params=["models", "own plans"])
def models_at_once(request):
    """Instances built in full go by a model from the first use on, or always by their own plan."""
    if engine is None:
        yield
        return
    from althaia.engine.instances import build_models_at_once

    build_models_at_once(request.param == "models")
    yield
    build_models_at_once(False)


@pytest.fixture(autouse=True)
def profiled():
    """``TEST_PROFILE=1``: all scenarios run while their time is measured."""
    if not os.environ.get("TEST_PROFILE"):
        yield
        return
    with althaia.profile():
        yield
