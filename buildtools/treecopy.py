"""Copy the sources of this tree elsewhere, for a second build beside the first."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

# What building, testing and installing put into a tree.
_MADE = {"build", "dist", "__pycache__", "node_modules"}
_MADE_SUFFIXES = {".so", ".pyd", ".pyc", ".c", ".html"}


def source_names(root: Path) -> set[str]:
    """The files of a tree that are sources: what git knows or would add, and where ``root`` is
    no checkout (an unpacked sdist, a copy), what no tool of ours has made."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        capture_output=True,
        check=False,
    )
    if (root / ".git").exists() and listed.returncode == 0:
        names = set(listed.stdout.decode().split("\0"))
    else:
        names = {
            path.relative_to(root).as_posix()
            for path in root.rglob("*")
            if not _is_made(path.relative_to(root))
        }
    return {name for name in names if (root / name).is_file()}


def _is_made(path: Path) -> bool:
    return (
        path.suffix in _MADE_SUFFIXES
        or not _MADE.isdisjoint(path.parts)
        or any(part.startswith(".") and part not in {".ci", ".github"} for part in path.parts[:-1])
        or path.parts[:2] == ("althaia", "marshmallow")
        or path.name == "_build_info.json"
        or (path.parts[:2] == ("vendor", "marshmallow") and len(path.parts) > 3)
    )


def copy_tree(root: Path, target: Path) -> int:
    """Bring ``target`` to the sources of ``root``; built files there stay.

    :return: how many files were written
    """
    names = source_names(root)
    record = target / "build" / "copied.txt"
    gone = set(record.read_text("utf-8").splitlines()) - names if record.is_file() else set()
    for name in gone:
        (target / name).unlink(missing_ok=True)
    written = 0
    for name in names:
        source, copy = root / name, target / name
        if not copy.is_file() or copy.read_bytes() != source.read_bytes():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, copy)
            written += 1
    record.parent.mkdir(parents=True, exist_ok=True)
    record.write_text("\n".join(sorted(names)), "utf-8")
    return written
