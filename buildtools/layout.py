"""Where things are in the source tree."""

from __future__ import annotations

import tomllib
from pathlib import Path


class Layout:
    """The folders and files the stages read and write, relative to one root.

    :ivar generated: upstream, patched and renamed
    :ivar work: intermediate files: C sources, objects, finished extension modules to reuse
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.package = root / "althaia"
        self.generated = self.package / "marshmallow"
        self.stamp = self.package / "_build_info.json"
        self.semantics = self.package / "releases" / "semantics.toml"
        self.patches = root / "patches"
        self.lock = root / "vendor" / "marshmallow" / "lock.toml"
        self.work = root / "build" / "althaia"

    def version(self) -> str:
        """The version of the package."""
        table = tomllib.loads((self.root / "pyproject.toml").read_text("utf-8"))
        return str(table["project"]["version"])
