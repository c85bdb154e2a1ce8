"""A virtual environment for each library, made once and kept in ``.bench/``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from benchmarks.libraries import Library

ROOT = Path(__file__).resolve().parent.parent
# The cases read objects of these, and subclass what these subclass, whatever library is measured.
COMMON = (
    "attrs>=23.1",
    "django>=5.2",
    "flask-marshmallow>=1.3",
    "marshmallow-oneofschema>=3.1",
    "marshmallow-sqlalchemy>=1.4",
    "msgpack>=1.1",
    "pydantic>=2.10",
    "sqlalchemy>=2.0",
    "webargs>=8.6",
)


class EnvironmentFailed(Exception):
    """An environment could not be made; the text says which, and what pip said."""


def folder_of(library: Library) -> Path:
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    return ROOT / ".bench" / f"{library.name}-{version}"


def python_for(library: Library) -> Path:
    """The interpreter that has ``library`` installed; makes its environment if need be.

    Raises EnvironmentFailed when pip cannot install it.
    """
    if library.requirements is None:
        return Path(sys.executable)
    folder = folder_of(library)
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    wanted = "\n".join((*COMMON, *library.requirements))
    stamp = folder / "requirements.txt"
    if not stamp.exists() or stamp.read_text() != wanted:
        if not python.exists():
            _run(library, [sys.executable, "-m", "venv", str(folder)])
        _run(library, [*_pip(python), *COMMON, *library.requirements])
        stamp.write_text(wanted)
    return python


def _pip(python: Path) -> list[str]:
    return [str(python), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]


def _run(library: Library, command: list[str]) -> None:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise EnvironmentFailed(
            f"{library.label}: {' '.join(command[:6])} … failed:\n{done.stderr.strip()[-1500:]}"
        )
