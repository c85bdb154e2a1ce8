"""Which files of a tree are sources, in a checkout and outside one."""

import subprocess

import pytest

from buildtools.treecopy import copy_tree, source_names

SOURCES = {
    ".github/workflows/ci.yml",
    "althaia/__init__.py",
    "althaia/plans/fast.h",
    "patches/series",
    "vendor/marshmallow/lock.toml",
}
MADE = {
    ".venv/bin/python",
    "althaia/__pycache__/x.pyc",
    "althaia/_build_info.json",
    "althaia/marshmallow/schema.py",
    "althaia/plans/fast.so",
    "build/althaia/x.o",
    "vendor/marshmallow/marshmallow-1/setup.py",
}


@pytest.fixture
def tree(tmp_path):
    root = tmp_path / "tree"
    for name in SOURCES | MADE:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return root


def test_which_files_are_sources(tree):
    assert source_names(tree) == SOURCES
    # In a checkout git decides.
    subprocess.run(["git", "init", "--quiet", tree], check=True)
    (tree / ".gitignore").write_text("*.so\n/build/\n/patches/\n.venv/\n")
    names = source_names(tree)
    assert names >= {".gitignore", "althaia/marshmallow/schema.py"}
    assert "patches/series" not in names


def test_a_copy_follows_its_source_and_keeps_what_was_built(tree, tmp_path):
    target = tmp_path / "copy"
    assert copy_tree(tree, target) == len(SOURCES)
    (target / "althaia" / "built.so").write_text("built")
    assert copy_tree(tree, target) == 0
    (tree / "patches" / "series").unlink()
    (tree / "althaia" / "__init__.py").write_text("changed")
    assert copy_tree(tree, target) == 1
    assert not (target / "patches" / "series").exists()
    assert (target / "althaia" / "built.so").is_file()
    assert source_names(target) == SOURCES - {"patches/series"}
