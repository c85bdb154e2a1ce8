"""The applications, and an environment for each."""

from __future__ import annotations

import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

from benchmarks.environments import ROOT

ENVIRONMENTS = ROOT / ".bench" / "applications"
INTERPRETER = f"{sys.version_info[0]}.{sys.version_info[1]}"


@dataclass(frozen=True, slots=True)
class Application:
    """A package whose schemas can be imported without a server or a configuration.

    :param name: as the index has it.
    :param package: what is imported; of its modules those with "schema" in their names.
    """

    name: str
    package: str


APPLICATIONS = (
    Application("commercetools", "commercetools"),
    Application("Flask-AppBuilder", "flask_appbuilder"),
    Application("azure-ai-ml", "azure.ai.ml"),
    Application("marshmallow-utils", "marshmallow_utils"),
    Application("great-expectations", "great_expectations"),
)


def python_for(application: Application) -> Path:
    """The interpreter of an application's environment, made at its first use."""
    folder = ENVIRONMENTS / f"{application.name}-{INTERPRETER}"
    python = folder / "bin" / "python"
    done = folder / ".ready"
    if not done.exists():
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run(
            [python, "-m", "pip", "install", "--quiet", "marshmallow>=3.13", application.name],
            check=True,
        )
        done.touch()
    return python
