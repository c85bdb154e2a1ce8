"""Long calls end when a signal asks them to, and other threads get their turns meanwhile."""

import signal

import pytest

import althaia
from tests.hostile.processes import OURS, run_side_by_side

WAYS = ("dump", "load", "dumps")
JOBS = [f"{way} {what}" for way in WAYS for what in ("many", "a list", "a mapping", "nested")]
JOBS += ["load wrong"]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.alone,
    pytest.mark.skipif(
        not hasattr(signal, "setitimer"), reason="this platform has no interval timer to set"
    ),
    pytest.mark.skipif(
        not althaia.info().compiled, reason="interpreted code is interrupted by CPython itself"
    ),
]


@pytest.fixture(scope="module")
def measured():
    return run_side_by_side("interruptions", OURS, timeout=900)


@pytest.mark.parametrize("library", OURS)
@pytest.mark.parametrize("job", JOBS)
def test_a_signal_ends_it_and_other_threads_get_their_turns(measured, job, library):
    found = measured[library].of(job)
    assert found["interrupt"] < 0.1
    assert found["alarm"] < 0.1
    # CPU time; CPython's switch interval is 5 ms. Where nobody hands over the GIL when asked,
    # the one wait is as long as the job.
    assert found["median wait"] < 0.02
    assert found["longest wait"] < 0.25
