"""Each test of ``(ma, log, ...)`` in this folder is a scenario, as those of conformance are."""

from tests.conformance import conftest
from tests.invalidation.usage import checked


def pytest_pycollect_makeitem(collector, name, obj):
    return conftest.pytest_pycollect_makeitem(collector, name, obj, checked)
