"""Find the upstream release to build from.

It is either the ``marshmallow`` distribution installed in the build environment (pinned in
``build-system.requires``) or, with ``ALTHAIA_UPSTREAM=<folder>``, a source tree: a checkout,
an unpacked sdist, or the package folder itself.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path, PurePosixPath

from buildtools.errors import BuildError

PACKAGE = "marshmallow"
LICENCES = ("LICENSE", "NOTICE")


@dataclass(frozen=True)
class Upstream:
    """One release's package: the text of its modules and the licences that go with it."""

    version: str
    files: Mapping[str, bytes]
    licences: Mapping[str, bytes]
    origin: str
    pinned: bool
    """Whether it came from the build requirement, so that the lock must match."""

    def text(self, name: str) -> str:
        """The text of one module, with ``\\n`` line ends."""
        return self.files[name].decode("utf-8").replace("\r\n", "\n")

    @property
    def modules(self) -> list[str]:
        return sorted(name for name in self.files if name.endswith(".py"))

    @property
    def texts(self) -> dict[str, str]:
        """The text of each module."""
        return {name: self.text(name) for name in self.modules}


def find(environ: Mapping[str, str]) -> Upstream:
    """The upstream to build from.

    :raises BuildError: there is none, or the folder named holds none
    """
    folder = environ.get("ALTHAIA_UPSTREAM")
    return from_folder(Path(folder)) if folder else from_distribution()


def from_distribution() -> Upstream:
    """The installed ``marshmallow``, read through its metadata and without importing it."""
    try:
        distribution = metadata.distribution(PACKAGE)
    except metadata.PackageNotFoundError:
        raise BuildError(
            "build environment",
            "marshmallow is not installed in it",
            "build with isolation, or install what pyproject.toml lists under "
            "build-system.requires, or set ALTHAIA_UPSTREAM=<folder of its sources>",
        ) from None
    files: dict[str, bytes] = {}
    licences: dict[str, bytes] = {}
    for path in distribution.files or ():
        posix = PurePosixPath(path)
        if posix.parts[0] == PACKAGE and posix.suffix in {".py", ".typed"}:
            name = str(PurePosixPath(*posix.parts[1:]))
            files[name] = Path(str(distribution.locate_file(path))).read_bytes()
        elif posix.parts[0].endswith(".dist-info") and posix.name in LICENCES:
            licences[posix.name] = Path(str(distribution.locate_file(path))).read_bytes()
    origin = f"installed distribution marshmallow {distribution.version}"
    return _checked(Upstream(distribution.version, files, licences, origin, pinned=True))


def from_folder(folder: Path) -> Upstream:
    """A source tree of marshmallow, with or without its ``src`` folder."""
    for package in (folder / "src" / PACKAGE, folder / PACKAGE, folder):
        if (package / "schema.py").is_file():
            break
    else:
        raise BuildError(
            str(folder),
            "ALTHAIA_UPSTREAM names a folder without src/marshmallow/schema.py",
            "point it at a checkout or an unpacked sdist of marshmallow",
        )
    files = {
        path.relative_to(package).as_posix(): path.read_bytes()
        for path in sorted(package.rglob("*"))
        if path.suffix in {".py", ".typed"} and path.is_file()
    }
    places = (folder, package, *package.parents[:2])
    licences = {
        name: next((p / name).read_bytes() for p in places if (p / name).is_file())
        for name in LICENCES
        if any((p / name).is_file() for p in places)
    }
    origin = f"source tree {folder.name}"
    upstream = _checked(Upstream(_folder_version(places), files, licences, origin, pinned=False))
    if not upstream.version:
        raise BuildError(
            str(folder),
            "neither PKG-INFO nor pyproject.toml says which release of marshmallow this is, "
            "and the patches depend on that",
            "use an unpacked sdist, or add a file PKG-INFO with a line such as 'Version: 4.4.0'",
        )
    return upstream


def _folder_version(places: tuple[Path, ...]) -> str:
    """The version that the metadata of a source tree says, "" if there are none."""
    for place in places:
        pkg_info, project = place / "PKG-INFO", place / "pyproject.toml"
        if pkg_info.is_file():
            found = re.search(r"^Version: (\S+)$", pkg_info.read_text("utf-8"), re.MULTILINE)
            if found:
                return found[1]
        if project.is_file():
            table = tomllib.loads(project.read_text("utf-8")).get("project", {})
            if table.get("name") == PACKAGE and "version" in table:
                return str(table["version"])
    return ""


def _checked(upstream: Upstream) -> Upstream:
    if "schema.py" not in upstream.files:
        raise BuildError(
            upstream.origin,
            "its file list has no marshmallow/schema.py (an editable install has none)",
            "use a regular install of marshmallow, or set ALTHAIA_UPSTREAM=<its sources>",
        )
    if "LICENSE" not in upstream.licences:
        raise BuildError(
            upstream.origin,
            "no LICENSE beside it; what is built from it must ship with one",
            "use a complete source tree or the released wheel",
        )
    return upstream
