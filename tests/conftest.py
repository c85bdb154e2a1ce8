"""What every test here relies on: the build that is meant, and hypothesis' profiles."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

_RELAXED = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
settings.register_profile(
    "default", max_examples=150, deadline=None, suppress_health_check=_RELAXED
)
settings.register_profile(
    "nightly", max_examples=20_000, deadline=None, suppress_health_check=_RELAXED
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def pytest_report_header(config: pytest.Config) -> str:
    from althaia.marshmallow import schema

    kind = "pure Python" if str(schema.__file__).endswith(".py") else "compiled"
    plans = "off" if os.environ.get("ALTHAIA_PLANS") == "0" else "on"
    return f"althaia: {kind}, plans {plans}, hypothesis profile {settings._current_profile}"
