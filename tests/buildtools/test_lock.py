"""The lock: every file, every digest, and messages that say what to do."""

from dataclasses import replace

import pytest

from buildtools import lock as locks
from buildtools.errors import BuildError
from buildtools.upstream import from_distribution


def test_sdist_matches_the_lock(pinned, locked):
    locks.check(locked, pinned)


def test_the_installed_release_is_what_the_sdist_holds(pinned):
    installed = from_distribution()
    if installed.version == pinned.version:
        assert installed.files == pinned.files
    assert installed.pinned
    assert not pinned.pinned


def test_another_release_and_other_files_are_refused(pinned, locked):
    files = pinned.files
    fewer = {name: data for name, data in files.items() if name != "utils.py"}
    for changed, said in (
        ({"files": files | {"utils.py": b"x"}}, r"utils\.py: expected sha256 [0-9a-f]{64}, found"),
        ({"files": files | {"new.py": b""}}, r"new\.py: is in .* and not in the lock"),
        ({"files": fewer}, r"utils\.py: is in the lock and not in"),
        ({"version": "9.9"}, r"expected release 4\.4\.0, found 9\.9"),
    ):
        with pytest.raises(BuildError, match=said):
            locks.check(locked, replace(pinned, **changed))


def test_rendering_and_reading_agree(layout, locked, tmp_path):
    assert layout.lock.read_text("utf-8") == locks.render(locked)
    path = tmp_path / "lock.toml"
    with pytest.raises(BuildError, match="no usable lock file"):
        locks.read(path)
    path.write_text(locks.render(locked), "utf-8")
    assert locks.read(path) == locked
