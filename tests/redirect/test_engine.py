"""An engine that does not fit its marshmallow is an error that stays, never a silent slowness."""

from __future__ import annotations

from tests.engine import NEEDS_ENGINE

pytestmark = NEEDS_ENGINE

BROKEN = """
    import althaia
    from althaia.marshmallow import Schema, fields
    from althaia.engine import plan

    def load():
        return {}["get_value"]

    plan.load = load
    S = Schema.from_dict({"x": fields.Integer()})
"""


def test_every_use_is_an_error_that_says_what_to_do(program):
    program(
        BROKEN
        + """
    uses = (
        lambda data: S().dump(data),
        lambda data: S().load(data),
        lambda data: S().dump(data),
        lambda data: S(many=True).dump(data),
    )
    for use in uses:
        try:
            use({"x": "1"})
        except RuntimeError as error:
            text = str(error)
            assert "do not fit the marshmallow that it was built from (4.4.0)" in text, text
            assert "KeyError: 'get_value'" in text and "ALTHAIA_PLANS=0" in text
            assert isinstance(error.__cause__, KeyError)
        else:
            raise AssertionError
    assert "not be loaded" in althaia.info().plans and "get_value" in althaia.info().plans
    assert "not be loaded" in althaia.info().as_text()
    """
    )


def test_without_plans_it_works(program):
    program(
        BROKEN
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

    plan.load = load

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
