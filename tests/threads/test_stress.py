"""A short run of the stress program; docs/threads.md says what the long ones found."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import althaia

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(
    not althaia.info().compiled,
    reason="the program also writes MessagePack, which a pure build has not",
)
@pytest.mark.parametrize("library", ["althaia.marshmallow", "marshmallow"])
def test_no_wrong_answer_and_no_crash(library: str) -> None:
    """Upstream goes first over the same ground: what it raises would be no fault of ours."""
    command = [
        *(sys.executable, "-X", "faulthandler", "-m", "tests.threads.stress"),
        *("--library", library, "--seconds", "3"),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, f"{done.stdout[-1000:]}\n{done.stderr[-4000:]}"
