"""The modules that the build shares with the package that it builds.

Taken from this tree by their files: importing the package would run it before it is built, or
find another one that is installed.
"""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

_FOLDER = Path(__file__).parents[1] / "althaia" / "releases"


def _load(name: str) -> ModuleType:
    full_name = f"{__name__}.{name}"
    spec = spec_from_file_location(full_name, _FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    # Under a name of its own, which dataclasses look up.
    module = sys.modules[full_name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if TYPE_CHECKING:
    from althaia.releases import digests as digests, meanings as meanings, patching as patching
else:
    digests = _load("digests")
    meanings = _load("meanings")
    patching = _load("patching")
