"""Where things are in the source tree."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Layout:
    """The folders and files the stages read and write, relative to one root."""

    root: Path

    @property
    def package(self) -> Path:
        return self.root / "althaia"

    @property
    def generated(self) -> Path:
        """Upstream, patched and renamed."""
        return self.package / "marshmallow"

    @property
    def stamp(self) -> Path:
        return self.package / "_build_info.json"

    @property
    def patches(self) -> Path:
        return self.root / "patches"

    @property
    def lock(self) -> Path:
        return self.root / "vendor" / "marshmallow" / "lock.toml"

    @property
    def semantics(self) -> Path:
        return self.package / "releases" / "semantics.toml"

    @property
    def work(self) -> Path:
        """Intermediate files: C sources, objects, finished extension modules to reuse."""
        return self.root / "build" / "althaia"
