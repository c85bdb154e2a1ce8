"""A pure build has no plans: there, only what it says about that is tested."""

from pathlib import Path

import pytest

from tests.conformance.harness import engine, plans_at_once

if engine is None:
    collect_ignore = [
        "kinds",
        *(
            path.name
            for path in Path(__file__).parent.glob("test_*.py")
            if path.name != "test_without_plans.py"
        ),
    ]


@pytest.fixture(autouse=engine is not None)
def at_once():
    """Every plan is built at first use."""
    from althaia import seam

    seam.load_engine()
    with plans_at_once():
        yield
