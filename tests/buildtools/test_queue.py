"""Our own queue: within its budget, fits all releases, says why each patch is there."""

import re
import shutil

import pytest

from buildtools import fetch
from buildtools.queue import apply, lines, refresh, report, statistics, write_trees
from buildtools.rename import rename
from buildtools.upstream import from_folder
from tests import releases


def test_budget(queue):
    assert len(queue) <= 16
    assert sum(lines(patch, "+") for patch in queue) <= 80


def test_the_readme_says_what_each_patch_does(layout, queue):
    text = (layout.patches / "README.md").read_text("utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    named = [name for row in rows for name in re.findall(r"`([\w-]+)`", row.split("|")[1])]
    assert named == [patch.name.removesuffix(".patch") for patch in queue]


def test_every_target_has_a_patch_for_the_pinned_release(queue, pinned):
    reached = [p.header["Target"] for p in queue if p.applies_to(pinned.version)]
    # Those that only older releases need are not asked for.
    newest = [patch for patch in queue if not patch.header["Applies-To"].endswith("<3.20")]
    assert sorted(set(reached)) == sorted({patch.header["Target"] for patch in newest})


OTHERS = [
    pytest.param(each, marks=[pytest.mark.slow][each == "3.26.2" :]) for each in releases.TESTED
]


@pytest.mark.parametrize("release", [None, *OTHERS])
def test_the_queue_fits(release, layout, locked, queue):
    source = from_folder(fetch.fetch(locked, layout.lock.parent, release))
    pristine = source.texts
    patched, placed = apply(queue, pristine, source.version)
    wanted = [p for p in queue if p.applies_to(source.version)]
    assert [patch for patch, *_ in placed] == [patch for patch in wanted for _ in patch.hunks]
    for name, text in patched.items():
        compile(rename(name, text), name, "exec")


def test_the_seam_patches_fit_the_older_line_too(queue, older_line):
    seam = [patch for patch in queue if patch.header["Reason"] in ("engine", "seam")]
    assert len(seam) >= 5

    def between(without, has):
        return [p.name for p in seam if p.applies_to(has) and not p.applies_to(without)]

    # There the text that is loaded has another name and instances have a context: two patches of
    # their own.
    late = ["seam-loads.patch", "seam-construct.patch"]
    assert between(older_line.version, "4.4.0") == late
    assert between("4.0.0", "3.26.2") == ["seam-loads-3.patch", "seam-construct-3.patch"]
    assert between("3.20.0", "3.19.0") == ["seam-creation.patch"]


def test_logic_stays_out_of_seam_patches(queue):
    """A seam patch asks and obeys: it adds an import or one call and its return, or calls another
    function."""
    for patch in queue:
        if patch.header["Reason"] in ("engine", "seam"):
            assert lines(patch, "-") <= 2 * ("construct" in patch.name or "creation" in patch.name)
            assert lines(patch, "+") <= 3 * len(patch.hunks), patch.name


def test_refresh_repairs_line_numbers_only(layout, pinned, tmp_path):
    copy = tmp_path / "patches"
    shutil.copytree(layout.patches, copy)
    refresh(copy, pinned)
    path = copy / "seam-dump.patch"
    right = path.read_text()
    header = next(line for line in right.split("\n") if line.startswith("@@"))
    path.write_text(right.replace(header, "@@ -7,1 +7,3 @@ Schema.dump"))
    assert refresh(copy, pinned) == ["seam-dump.patch"]
    assert path.read_text() == right


def test_report_and_trees(queue, pinned, older_line, tmp_path):
    told = [len(p.hunks) if p.applies_to(pinned.version) else 1 for p in queue]
    assert len(list(report(queue, pinned))) == 1 + sum(told)
    assert any("not for this release" in line for line in report(queue, older_line))
    write_trees(queue, pinned, tmp_path)
    assert (tmp_path / "a" / "schema.py").read_text() == pinned.text("schema.py")
    assert "_seam.dump(" in (tmp_path / "b" / "schema.py").read_text()
    assert list(statistics(queue))[-1].startswith(f"{len(queue)} patches of 16")
