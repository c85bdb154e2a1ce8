from functools import partial

import pytest

from tests.redirect import processes


@pytest.fixture(params=processes.WAYS_IN)
def way(request):
    return str(request.param)


@pytest.fixture
def redirected(way, tmp_path):
    """Runs a program redirected, once for each way in."""
    return partial(processes.redirected, way=way, cwd=tmp_path)


@pytest.fixture
def patched(tmp_path):
    """Runs a program redirected by ``althaia.patch()``, where the way in does not matter."""
    return partial(processes.redirected, way="patch()", cwd=tmp_path)


@pytest.fixture
def run_both(tmp_path):
    """Runs the interpreter redirected and not; whatever comes of it."""

    def run(*words):
        patched = {"ALTHAIA_PATCH": "1"}
        return tuple(processes.run(*words, cwd=tmp_path, env=env) for env in (patched, None))

    return run
