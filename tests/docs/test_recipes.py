"""The recipes for metrics in the documentation, run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import althaia
from althaia import marshmallow as ma

PAGE = Path(__file__).parents[2] / "docs" / "rollout.md"


class Metered(ma.Schema):
    number = ma.fields.Integer()


NAME = f"{__name__}.Metered"


def recipe(title: str) -> str:
    found = re.search(
        rf"^### {title}\n.*?^```python\n(.*?)^```",
        PAGE.read_text("utf-8"),
        re.MULTILINE | re.DOTALL,
    )
    assert found is not None
    return found[1]


@pytest.fixture
def calls() -> int:
    """How many calls a plan has answered, at least one."""
    if althaia.explain(Metered).as_dict()["no_plans"]:
        pytest.skip("no plans run in this build")
    Metered().dump([{"number": 1}] * 500, many=True)
    answered: int = althaia.stats()[NAME]["dump"]["calls"]
    assert answered
    return answered


def test_prometheus(calls: int) -> None:
    core = pytest.importorskip("prometheus_client.core")
    namespace: dict[str, Any] = {}
    exec(recipe("Prometheus"), namespace)
    labels = {"schema": NAME, "direction": "dump", "answered": "plan"}
    assert core.REGISTRY.get_sample_value("althaia_calls_total", labels) == calls
    assert core.REGISTRY.get_sample_value("althaia_compared_total", {"result": "different"}) == 0


def test_opentelemetry(calls: int) -> None:
    metrics = pytest.importorskip("opentelemetry.metrics")
    sdk = pytest.importorskip("opentelemetry.sdk.metrics")
    export = pytest.importorskip("opentelemetry.sdk.metrics.export")
    reader = export.InMemoryMetricReader()
    metrics.set_meter_provider(sdk.MeterProvider([reader]))
    exec(recipe("OpenTelemetry"), {})
    data = reader.get_metrics_data().resource_metrics[0].scope_metrics[0].metrics[0].data
    (point,) = [
        each
        for each in data.data_points
        if dict(each.attributes) == {"schema": NAME, "direction": "dump", "answered": "plan"}
    ]
    assert point.value == calls
