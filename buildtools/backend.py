"""poetry-core as the build backend, plus the two things it has no setting for.

A pure build (``ALTHAIA_PURE_BUILD=1``) is tagged ``py3-none-any``, and an editable install
gets the start-up file that a wheel carries.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from poetry.core.masonry import api

from buildtools import wheel
from buildtools.pipeline import is_pure

Settings = dict[str, Any] | None

STARTUP_FILES = ("althaia_startup.pth", "althaia_startup.start")

get_requires_for_build_wheel = api.get_requires_for_build_wheel
get_requires_for_build_sdist = api.get_requires_for_build_sdist
get_requires_for_build_editable = api.get_requires_for_build_editable
prepare_metadata_for_build_wheel = api.prepare_metadata_for_build_wheel
prepare_metadata_for_build_editable = api.prepare_metadata_for_build_editable
build_sdist = api.build_sdist


def build_wheel(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    """Build a wheel; see PEP 517."""
    if not is_pure(os.environ):
        name: str = api.build_wheel(wheel_directory, config_settings, metadata_directory)
        return name
    # Elsewhere first: under its first name it would replace a compiled wheel.
    with tempfile.TemporaryDirectory(dir=wheel_directory) as folder:
        name = api.build_wheel(folder, config_settings, metadata_directory)
        pure = wheel.make_pure(Path(folder) / name)
        return pure.replace(Path(wheel_directory) / pure.name).name


def build_editable(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    """Build an editable wheel; see PEP 660."""
    name: str = api.build_editable(wheel_directory, config_settings, metadata_directory)
    path = Path(wheel_directory) / name
    wheel.add_files(path, {n: Path(n).read_bytes() for n in STARTUP_FILES if Path(n).is_file()})
    return name
