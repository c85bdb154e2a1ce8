"""Copy the sources of this tree elsewhere, for a second build beside the first."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from buildtools.errors import BuildError


def copy_tree(root: Path, target: Path) -> int:
    """Bring ``target`` to the sources git knows or would add; built files there stay.

    :return: how many files were written
    :raises BuildError: ``root`` is no git checkout
    """
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        capture_output=True,
        check=False,
    )
    if listed.returncode:
        raise BuildError(
            str(root),
            "is no git checkout, so which files are sources is unknown",
            "run this in a clone, or unpack the sdist twice",
        )
    names = {name for name in listed.stdout.decode().split("\0") if (root / name).is_file()}
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
