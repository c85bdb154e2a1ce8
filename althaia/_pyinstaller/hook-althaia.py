"""What a frozen application needs of althaia and PyInstaller cannot see.

It reads imports from Python code; those of extension modules are invisible to it. Their sources
ship beside them, so they are read there.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from PyInstaller.utils.hooks import collect_data_files, collect_submodules, copy_metadata

import althaia

LEFT_OUT = tuple(
    f"althaia.{name}" for name in ("_pyinstaller", "adapters", "bulk", "cli", "pytest_plugin")
)
"""Commands, a plugin and what works with other packages: an application that uses one of these
imports it, and PyInstaller sees that."""

_IMPORT = re.compile(r"^\s*(?:from\s+(\w+)[\w.]*\s+import|import\s+([\w., ]+))", re.MULTILINE)


def wanted(name: str) -> bool:
    return not name.startswith(LEFT_OUT) and name != "althaia.__main__"


def standard_modules() -> Iterator[str]:
    """The modules of the standard library that our sources name in an import."""
    for folder in althaia.__path__:
        for pattern in ("*.py", "*.pyx"):
            for path in Path(folder).rglob(pattern):
                for module, several in _IMPORT.findall(path.read_text("utf-8")):
                    for name in (module, *several.split(",")):
                        top = name.strip().partition(".")[0].partition(" ")[0]
                        if top in sys.stdlib_module_names:
                            yield top


# Imported by functions of `althaia.bulk` alone. An application that uses Dask names it itself; each
# other one would be frozen with Dask and all that Dask can import.
excludedimports = ["distributed"]
hiddenimports = [*collect_submodules("althaia", filter=wanted), *sorted(set(standard_modules()))]
# The build information, the licences of what is bundled, and the sources that tracebacks show.
datas = collect_data_files("althaia", include_py_files=True, excludes=["cli", "_pyinstaller"])
# Which marshmallow is installed is read from the name of this folder.
datas += copy_metadata("althaia") + copy_metadata("marshmallow")
