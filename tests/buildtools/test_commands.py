"""The maintainer's commands, as typed."""

import shutil
import subprocess
import sys
from argparse import Namespace

import pytest

from buildtools import __main__ as commands
from buildtools.errors import BuildError
from buildtools.layout import Layout
from tests.buildtools.conftest import forget
from tests.redirect import processes

pytestmark = pytest.mark.slow


@pytest.fixture
def scratch(layout, tmp_path):
    copy = Layout(tmp_path)
    shutil.copytree(layout.patches, copy.patches)
    copy.semantics.parent.mkdir(parents=True)
    copy.lock.parent.mkdir(parents=True)
    shutil.copy(layout.lock, copy.lock)
    shutil.copy(layout.semantics, copy.semantics)
    return copy


@pytest.fixture
def options(layout, pinned):
    folder = layout.lock.parent / f"marshmallow-{pinned.version}"
    return Namespace(upstream=folder, hash=[], to=None, release=None, names=True)


def typed(layout, *words):
    return processes.run("-m", "buildtools", *words, cwd=layout.root, timeout=900)


def test_as_typed(layout, options, tmp_path):
    done = typed(layout, "patches", "check", "--upstream", str(options.upstream))
    assert done.returncode == 0, done.stderr
    assert "seam-dump.patch: Schema.dump, line " in done.stdout
    done = typed(layout, "patches", "check", "--upstream", str(tmp_path))
    assert done.returncode == 1
    assert "without src/marshmallow/schema.py" in done.stderr
    assert "Traceback" not in done.stderr
    shown = typed(layout, "--help").stdout
    for topic in ("build", "patches", "lock", "semantics", "fetch", "copy"):
        assert topic in shown


def test_refreshing_what_is_up_to_date_changes_nothing(scratch, options):
    before = {path: path.read_bytes() for path in (scratch.lock, scratch.semantics)}
    commands.lock_refresh(scratch, options)
    commands.semantics_refresh(scratch, options)
    assert {path: path.read_bytes() for path in before} == before
    assert commands.semantics_diff(scratch, options) == 0


def test_what_somebody_has_read_is_not_shown_again(layout, scratch, older_line, capsys):
    names = ["fields.TimeDelta._serialize", "fields.TimeDelta._deserialize"]
    forget(scratch.semantics, *names)

    def shown(code, **options):
        options = Namespace(upstream=None, release=older_line.version, **options)
        assert commands.semantics_diff(scratch, options) == code
        return capsys.readouterr().out

    assert "fields.TimeDelta._serialize\n" in shown(1, names=True)
    before = shown(1, names=False)
    assert all(f"{name}\n" in before for name in names)
    assert "fields.TimeDelta._serialize\n    rests on it: dump of TimeDelta\n" in before
    assert "self.serialization_type" in before
    read = {"upstream": None, "release": older_line.version, "why": "read", "variant": None}
    commands.semantics_accept(scratch, Namespace(functions=names, **read))
    capsys.readouterr()
    assert not any(f"{name}\n" in shown(0, names=False) for name in names)
    text = scratch.semantics.read_text("utf-8")
    assert '[equal."fields.TimeDelta._serialize"]' in text
    assert '"3.26.2: read"' in text
    with pytest.raises(BuildError, match="no function of marshmallow's"):
        commands.semantics_accept(scratch, Namespace(functions=["fields.Nothing"], **read))


def test_the_page_of_releases_is_up_to_date(layout):
    written = (layout.root / "docs" / "releases.md").read_text("utf-8")
    assert written == commands.releases_page(layout)


def test_another_release_needs_its_hashes(layout, scratch, older_line):
    folder = layout.lock.parent / f"marshmallow-{older_line.version}"
    older = Namespace(upstream=folder, hash=[])
    with pytest.raises(BuildError, match=r"the sdist hash of release 3\.26\.2 is not known"):
        commands.lock_refresh(scratch, older)
    older.hash = ["sdist=" + "a" * 64, "wheel=" + "b" * 64]
    commands.lock_refresh(scratch, older)
    text = scratch.lock.read_text("utf-8")
    assert 'version = "3.26.2"' in text
    assert f'sdist_sha256 = "{"a" * 64}"' in text
    assert '"base.py"' in text


@pytest.mark.skipif(shutil.which("make") is None, reason="this system has no make")
def test_an_environment_that_make_did_not_make_is_kept(layout, tmp_path):
    venv = tmp_path / "venv"
    venv.mkdir()
    (venv / "pyvenv.cfg").write_text("home = somewhere\n")
    words = ["make", "demo", f"VENV={venv}", f"PYTHON={sys.executable}"]
    done = subprocess.run(words, cwd=layout.root, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert f"{venv} was not made by make: remove it, or name another" in done.stderr
    assert [each.name for each in venv.iterdir()] == ["pyvenv.cfg"]
