"""The recipes for metrics in the documentation, run."""

import re
import time
from pathlib import Path

import pytest

import althaia
from althaia import marshmallow as ma
from tests.trust.test_rollout import get, serving

PAGE = Path(__file__).parents[2] / "docs" / "rollout.md"


class Metered(ma.Schema):
    number = ma.fields.Integer()


NAME = f"{__name__}.Metered"


def recipes(title):
    section = PAGE.read_text("utf-8").partition(f"\n### {title}\n")[2].partition("\n#")[0]
    return re.findall(r"^```python\n(.*?)^```", section, re.MULTILINE | re.DOTALL)


@pytest.fixture
def calls():
    """How many calls a plan has answered, at least one."""
    if althaia.explain(Metered).as_dict()["no_plans"]:
        pytest.skip("no plans run in this build")
    Metered().dump([{"number": 1}] * 500, many=True)
    answered = althaia.stats()[NAME]["dump"]["calls"]
    assert answered
    return answered


APPLICATION = """
from flask import Flask
from marshmallow import Schema, fields
app = Flask(__name__)
class Order(Schema):
    number = fields.Integer()
schema = Order()
@app.get("/")
def order():
    return schema.dump({"number": 1})
"""


@pytest.mark.slow
def test_prometheus_with_four_workers(calls, tmp_path):
    for needed in ("prometheus_client", "gunicorn", "flask"):
        pytest.importorskip(needed)
    counting, showing = recipes("Prometheus")
    assert "time.sleep(10)" in counting
    (tmp_path / "gunicorn.conf.py").write_text(
        counting.replace("time.sleep(10)", "time.sleep(0.2)")
    )
    (tmp_path / "shop.py").write_text(APPLICATION + showing)
    (tmp_path / "metrics").mkdir()
    env = {
        "ALTHAIA_PATCH": "1", "ALTHAIA_COMPARE": "1",
        "PROMETHEUS_MULTIPROC_DIR": str(tmp_path / "metrics"), "PYTHONPATH": str(tmp_path),
    }  # fmt: skip
    with serving(tmp_path, ["-m", "gunicorn", "-w", "4", "shop:app"], env) as address:
        for _ in range(400):
            get(f"{address}/")

        def shown(name):
            text = get(f"{address}/metrics").decode()
            return [float(n) for n in re.findall(rf"^{name}_total{{.*}} (\S+)$", text, re.M)]

        for _ in range(100):
            if sum(shown("althaia_calls")) == 400:
                break
            time.sleep(0.1)
        # Whichever worker answers.
        assert [sum(shown("althaia_calls")) for _ in range(12)] == [400] * 12
        # In each worker the first calls have no plan.
        assert max(shown("althaia_calls")) >= 400 - 4 * 16 > 0
        assert 0 < sum(shown("althaia_compared")) <= 400


def test_opentelemetry(calls):
    metrics = pytest.importorskip("opentelemetry.metrics")
    sdk = pytest.importorskip("opentelemetry.sdk.metrics")
    export = pytest.importorskip("opentelemetry.sdk.metrics.export")
    reader = export.InMemoryMetricReader()
    metrics.set_meter_provider(sdk.MeterProvider([reader]))
    exec(recipes("OpenTelemetry")[0], {})
    reader.get_metrics_data()
    data = reader.get_metrics_data().resource_metrics[0].scope_metrics[0].metrics[0].data
    (point,) = [
        each
        for each in data.data_points
        if dict(each.attributes) == {"schema": NAME, "direction": "dump", "answered": "plan"}
    ]
    assert point.value == calls
