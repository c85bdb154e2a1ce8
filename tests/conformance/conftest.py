"""What several files of scenarios run under."""

from __future__ import annotations

import pytest

from tests.conformance.harness import engine


@pytest.fixture(params=["models", "own plans"])
def models_at_once(request):
    """Instances built in full go by a model from the first use on, or always by their own plan."""
    if engine is None:
        yield
        return
    from althaia.engine.instances import model

    model.build_models_at_once(request.param == "models")
    yield
    model.build_models_at_once(False)
