"""poetry-core as the build backend, plus the three things it has no setting for.

A pure build (``pipeline.is_pure``) is tagged ``py3-none-any``. An editable install gets the
start-up file that a wheel carries. A wheel has the patch queue in the package, and says under
which licences upstream's files are.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import CalledProcessError
from typing import Any

from poetry.core.masonry import api

from buildtools import wheel
from buildtools.layout import Layout
from buildtools.pipeline import is_pure
from buildtools.upstream import LICENCES, PACKAGE

Settings = dict[str, Any] | None

STARTUP_FILES = ("althaia_startup.pth", "althaia_startup.start")

get_requires_for_build_wheel = api.get_requires_for_build_wheel
get_requires_for_build_sdist = api.get_requires_for_build_sdist
get_requires_for_build_editable = api.get_requires_for_build_editable
prepare_metadata_for_build_wheel = api.prepare_metadata_for_build_wheel
prepare_metadata_for_build_editable = api.prepare_metadata_for_build_editable
build_sdist = api.build_sdist


@contextmanager
def building() -> Iterator[None]:
    """End without a traceback where ``build_ext.py`` has failed: its message is the last line."""
    try:
        yield
    except CalledProcessError as error:
        sys.exit(error.returncode)


def build_wheel(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    """Build a wheel; see PEP 517."""
    # Elsewhere first: a pure one would replace a compiled one under its first name.
    with tempfile.TemporaryDirectory(dir=wheel_directory) as folder:
        with building():
            name: str = api.build_wheel(folder, config_settings, metadata_directory)
        path = Path(folder) / name
        layout = Layout(Path.cwd())
        generated = layout.generated
        queue = [path for path in layout.patches.iterdir() if path.suffix in {"", ".patch"}]
        licences = [name for name in LICENCES if (generated / name).is_file()]
        path = wheel.change(
            path,
            {f"althaia/releases/patches/{file.name}": file.read_bytes() for file in queue},
            {f"{PACKAGE}/{name}": (generated / name).read_bytes() for name in licences},
            pure=is_pure(os.environ),
        )
        path = path.replace(Path(wheel_directory) / path.name)
    return path.name


def build_editable(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    """Build an editable wheel; see PEP 660."""
    with building():
        name: str = api.build_editable(wheel_directory, config_settings, metadata_directory)
    started = {n: Path(n).read_bytes() for n in STARTUP_FILES if Path(n).is_file()}
    wheel.change(Path(wheel_directory) / name, started, {}, pure=False)
    return name
