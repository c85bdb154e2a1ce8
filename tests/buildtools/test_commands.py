"""The maintainer's commands, as typed."""

import shutil
import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import pytest

from buildtools import __main__ as commands
from buildtools import dependents
from buildtools.errors import BuildError
from buildtools.layout import Layout
from tests.buildtools.forgetting import forget
from tests.redirect import processes

pytestmark = pytest.mark.slow


@pytest.fixture
def scratch(layout, tmp_path):
    """Return a copy of the files that the commands write."""
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


def test_patches_check_as_typed(layout, options):
    done = typed(layout, "patches", "check", "--upstream", str(options.upstream))
    assert done.returncode == 0, done.stderr
    assert "seam-dump.patch: Schema.dump, line " in done.stdout


def test_an_error_as_typed(layout, tmp_path):
    done = typed(layout, "patches", "check", "--upstream", str(tmp_path))
    assert done.returncode == 1
    assert "without src/marshmallow/schema.py" in done.stderr
    assert "Traceback" not in done.stderr


def test_help_lists_the_topics(layout):
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
    older = Namespace(upstream=None, release=older_line.version)
    names = ["fields.TimeDelta._serialize", "fields.TimeDelta._deserialize"]
    forget(scratch.semantics, *names)

    def shown():
        assert commands.semantics_diff(scratch, Namespace(**vars(older), names=False)) == 1
        return capsys.readouterr().out

    before = shown()
    assert commands.semantics_diff(scratch, Namespace(**vars(older), names=True)) == 1
    assert "fields.TimeDelta._serialize\n" in capsys.readouterr().out
    assert all(f"{name}\n" in before for name in names)
    assert "fields.TimeDelta._serialize\n    rests on it: dump of TimeDelta\n" in before
    assert "self.serialization_type" in before
    read = Namespace(**vars(older), functions=names, why="read", variant=None)
    commands.semantics_accept(scratch, read)
    capsys.readouterr()
    assert commands.semantics_diff(scratch, Namespace(**vars(older), names=False)) == 0
    assert not any(f"{name}\n" in capsys.readouterr().out for name in names)
    text = scratch.semantics.read_text("utf-8")
    assert '[equal."fields.TimeDelta._serialize"]' in text
    assert '"3.26.2: read"' in text


def test_the_page_of_releases_is_up_to_date(layout):
    written = (layout.root / "docs" / "releases.md").read_text("utf-8")
    assert written == commands.releases_page(layout)


def test_what_is_no_function_of_any_release_is_not_accepted(scratch, options):
    read = Namespace(**vars(options), functions=["fields.Nothing"], why="read", variant="x")
    with pytest.raises(BuildError, match="no function of marshmallow's"):
        commands.semantics_accept(scratch, read)


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


def test_apply_writes_both_trees(scratch, options):
    commands.patches_apply(scratch, options)
    written = scratch.work / "queue"
    assert (written / "a" / "schema.py").read_bytes() != (written / "b" / "schema.py").read_bytes()


def test_stats_and_refresh(scratch, options, capsys):
    commands.patches_refresh(scratch, options)
    commands.patches_stats(scratch, options)
    assert "patches of 16" in capsys.readouterr().out


def test_an_unknown_release_is_not_fetched(scratch):
    with pytest.raises(BuildError, match=r"no hash for 1\.0"):
        commands.fetch_sources(scratch, Namespace(release="1.0"))


def test_requirements_of_the_demo_are_few(layout):
    shown = typed(layout, "requirements", "demo").stdout.split()
    names = {line.partition(">")[0].partition("=")[0] for line in shown}
    assert names == {"Cython", "marshmallow", "poetry-core", "rich", "setuptools", "sqlalchemy"}
    assert typed(layout, "requirements", "nothing").returncode == 1


def test_make_demo_installs_no_more(layout, tmp_path):
    words = ["make", "--dry-run", "demo", f"PYTHON={sys.executable}", f"VENV={tmp_path}/new"]
    plan = subprocess.run(words, cwd=layout.root, capture_output=True, text=True, check=True).stdout
    assert "requirements demo" in plan
    assert "--editable" not in plan


def test_packages_that_no_suite_is_run_for_are_an_error(layout):
    with pytest.raises(BuildError, match=r"with marshmallow 3\.26\.2: flask-smorest") as caught:
        next(dependents.run(layout, "3.26.2", ["flask-smorest"]))
    assert "webargs" in str(caught.value)


ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(shutil.which("make") is None, reason="this system has no make")
def test_an_environment_that_make_did_not_make_is_kept(tmp_path):
    venv = tmp_path / "venv"
    venv.mkdir()
    (venv / "pyvenv.cfg").write_text("home = somewhere\n")
    done = subprocess.run(
        ["make", "demo", f"VENV={venv}", f"PYTHON={sys.executable}"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode != 0
    assert f"{venv} was not made by make: remove it, or name another" in done.stderr
    assert [each.name for each in venv.iterdir()] == ["pyvenv.cfg"]
