"""poetry-core as the build backend, plus the two things it has no setting for.

A pure build (``ALTHAIA_PURE_BUILD=1``) is tagged ``py3-none-any``, and an editable install
gets the start-up file that a wheel carries.
"""

from __future__ import annotations

import os
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
    name = api.build_wheel(wheel_directory, config_settings, metadata_directory)
    path = Path(wheel_directory) / name
    return (wheel.make_pure(path) if is_pure(os.environ) else path).name


def build_editable(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    """Build an editable wheel; see PEP 660."""
    name: str = api.build_editable(wheel_directory, config_settings, metadata_directory)
    path = Path(wheel_directory) / name
    wheel.add_files(path, {n: Path(n).read_bytes() for n in STARTUP_FILES if Path(n).is_file()})
    return name
