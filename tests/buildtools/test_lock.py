"""The lock: every file, every digest, and messages that say what to do."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from buildtools import lock as locks
from buildtools.errors import BuildError
from buildtools.lock import Lock
from buildtools.upstream import Upstream, from_distribution, from_folder


def test_sdist_matches_the_lock(pinned: Upstream, locked: Lock) -> None:
    locks.check(locked, pinned)


def test_the_installed_release_is_what_the_sdist_holds(pinned: Upstream) -> None:
    installed = from_distribution()
    if installed.version == pinned.version:
        assert installed.files == pinned.files
    assert installed.pinned
    assert not pinned.pinned


def test_one_changed_byte_is_seen(pinned: Upstream, locked: Lock) -> None:
    files = {**pinned.files, "utils.py": pinned.files["utils.py"] + b"\n"}
    with pytest.raises(BuildError, match=r"utils\.py: expected sha256 [0-9a-f]{64}, found"):
        locks.check(locked, replace(pinned, files=files))


def test_a_file_more_or_less_is_seen(pinned: Upstream, locked: Lock) -> None:
    with pytest.raises(BuildError, match=r"new\.py: is in .* and not in the lock"):
        locks.check(locked, replace(pinned, files={**pinned.files, "new.py": b""}))
    fewer = {name: data for name, data in pinned.files.items() if name != "utils.py"}
    with pytest.raises(BuildError, match=r"utils\.py: is in the lock and not in"):
        locks.check(locked, replace(pinned, files=fewer))


def test_another_release_is_refused(pinned: Upstream, locked: Lock) -> None:
    with pytest.raises(BuildError, match=r"expected release 4\.4\.0, found 9\.9"):
        locks.check(locked, replace(pinned, version="9.9"))


def test_rendering_and_reading_agree(locked: Lock, tmp_path: Path) -> None:
    path = tmp_path / "lock.toml"
    path.write_text(locks.render(locked), "utf-8")
    assert locks.read(path) == locked


def test_the_file_is_as_rendered(locked: Lock, layout: object) -> None:
    from buildtools.layout import Layout

    assert isinstance(layout, Layout)
    assert layout.lock.read_text("utf-8") == locks.render(locked)


def test_a_missing_lock_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="no usable lock file"):
        locks.read(tmp_path / "lock.toml")


def test_a_folder_without_sources_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=r"without src/marshmallow/schema\.py"):
        from_folder(tmp_path)


def test_sources_without_a_licence_are_refused(tmp_path: Path) -> None:
    package = tmp_path / "deep" / "er" / "src" / "marshmallow"
    package.mkdir(parents=True)
    (package / "schema.py").write_text("")
    with pytest.raises(BuildError, match="no LICENSE beside it"):
        from_folder(tmp_path / "deep" / "er")


def test_sources_that_do_not_say_their_release_are_refused(tmp_path: Path) -> None:
    (tmp_path / "schema.py").write_text("")
    (tmp_path / "LICENSE").write_text("")
    with pytest.raises(BuildError, match="says which release of marshmallow"):
        from_folder(tmp_path)
    (tmp_path / "PKG-INFO").write_text("Name: marshmallow\nVersion: 4.4.0\n")
    assert from_folder(tmp_path).version == "4.4.0"


@pytest.mark.slow
def test_a_checkout_says_its_version(pinned: Upstream, older_line: Upstream) -> None:
    assert pinned.version == "4.4.0"
    assert older_line.version == "3.26.2"
    assert set(pinned.licences) == {"LICENSE", "NOTICE"}
