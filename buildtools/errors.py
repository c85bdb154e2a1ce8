"""The one error every stage of the build raises, and how commands that fail raise it."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

from buildtools.shipped import patching

BuildError = patching.QueueError


def output_of(*words: object, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> str:
    """Run a command; what it printed.

    :raises BuildError: it failed
    """
    command = list(map(str, words))
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        said = (done.stdout + done.stderr).strip()[-3000:]
        raise BuildError(" ".join(command), f"exit code {done.returncode}", said)
    return done.stdout
