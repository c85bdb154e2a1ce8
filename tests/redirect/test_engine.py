"""An engine that does not fit its marshmallow is told, never a silent slowness."""

from __future__ import annotations

from tests.engine import NEEDS_ENGINE

pytestmark = NEEDS_ENGINE

BROKEN = """
    import althaia
    from althaia.marshmallow import Schema, fields
    from althaia.engine import plan

    def load():
        return {}["get_value"]

    plan.load_upstream = load
"""
MADE = """
    S = Schema.from_dict({"x": fields.Integer()})
"""


def test_it_is_a_warning_and_upstreams_code_runs(program):
    program(
        """
    import warnings

    caught = []
    warnings.showwarning = lambda message, *args, **kwargs: caught.append(str(message))
    """
        + BROKEN
        + MADE
        + """
    (text,) = caught
    assert "engine could not be loaded, KeyError: 'get_value'" in text, text
    assert S().dump({"x": "1"}) == {"x": 1} == S().load({"x": "1"})
    assert "not be loaded" in althaia.info().plans and "get_value" in althaia.info().plans
    assert "not be loaded" in althaia.info().as_text()
    """
    )


def test_without_plans_it_works(program):
    program(
        BROKEN
        + MADE
        + """
    assert S().dump({"x": "1"}) == {"x": 1}
    assert "ALTHAIA_PLANS=0" in althaia.info().plans
    """,
        env={"ALTHAIA_PLANS": "0"},
    )


def test_interrupted_by_the_keyboard_it_runs_upstreams_code(program):
    program(
        """
    import althaia
    from althaia.marshmallow import Schema, fields
    from althaia.engine import plan

    def load():
        raise KeyboardInterrupt

    plan.load_upstream = load

    def made():
        return Schema.from_dict({"x": fields.Integer()})

    try:
        made()
    except KeyboardInterrupt:
        pass
    else:
        raise AssertionError
    for _ in range(5):
        assert made()().dump({"x": "1"}) == {"x": 1}
    assert "could not be loaded: KeyboardInterrupt" in althaia.info().plans, althaia.info().plans
    """
    )
