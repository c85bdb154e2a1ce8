"""Build the archives once, from a copy of the tree, the way ``python -m build`` does."""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from packaging.tags import sys_tags

from buildtools.layout import Layout
from buildtools.pipeline import is_pure
from buildtools.treecopy import copy_tree
from tests.once import locked, once

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Wheel:
    """A built wheel, and how it was meant to be built."""

    path: Path
    pure: bool

    def names(self):
        with zipfile.ZipFile(self.path) as archive:
            return sorted(archive.namelist())

    def read(self, name):
        with zipfile.ZipFile(self.path) as archive:
            return archive.read(name)

    def metadata(self, name):
        (found,) = (n for n in self.names() if n.endswith(f".dist-info/{name}"))
        return self.read(found).decode()


def build(kind, tree, out, pure):
    """Run the ``build`` front end in ``tree`` with this environment's build requirements."""
    environ = {**os.environ, "ALTHAIA_PURE_BUILD": "1" if pure else "0"}
    before = set(out.iterdir())
    done = subprocess.run(
        [sys.executable, "-m", "build", f"--{kind}", "--no-isolation", "--outdir", out, tree],
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = set(out.iterdir()) - before
    return built


@pytest.fixture(scope="session")
def sdist(tmp_path_factory):
    def make(folder):
        tree = tmp_path_factory.mktemp("tree")
        copy_tree(ROOT, tree)
        # Generated files must not get into it, git or no git.
        shutil.copytree(Layout(ROOT).generated, Layout(tree).generated)
        shutil.copy(Layout(ROOT).stamp, Layout(tree).stamp)
        build("sdist", tree, folder, pure=False)

    (made,) = once(tmp_path_factory, "sdist", make).iterdir()
    return made


@pytest.fixture(scope="session")
def unpacked(sdist, tmp_path_factory):
    """The sdist, unpacked, with this tree's compiled modules to reuse where nothing changed.

    Who builds in it holds :func:`building`.
    """

    def make(folder):
        with tarfile.open(sdist) as archive:
            # Python 3.11 has filters from 3.11.4 on; 3.14 warns where none is named.
            filters = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
            archive.extractall(folder, **filters)
        (tree,) = folder.iterdir()
        if Layout(ROOT).work.is_dir():
            shutil.copytree(Layout(ROOT).work, Layout(tree).work)

    (tree,) = once(tmp_path_factory, "unpacked", make).iterdir()
    return tree


def building(tree):
    """Keep the run's other processes from building in a tree that all of them share."""
    return locked(tree.parent.with_suffix(".building"))


KINDS = ["pure"] if is_pure(os.environ) else ["compiled", "pure"]
BESIDE = f"althaia-4.4.0-{next(iter(sys_tags()))}.whl"
"""A wheel that is in the folder before: of another release, for this interpreter."""


@pytest.fixture(scope="session", params=KINDS)
def wheel(request, unpacked, tmp_path_factory):
    def make(folder):
        # What a build for another interpreter, or an older one, may have left behind.
        generated = Layout(unpacked).generated
        with building(unpacked):
            generated.mkdir(exist_ok=True)
            (generated / "fields.cpython-27-other.so").write_bytes(b"stale")
            (generated / "retired.py").write_text("stale = True\n")
            (folder / BESIDE).write_bytes(b"somebody's")
            build("wheel", unpacked, folder, pure)

    pure = request.param == "pure"
    folder = once(tmp_path_factory, f"wheel-{request.param}", make)
    (built,) = (path for path in folder.iterdir() if path.name != BESIDE)
    return Wheel(built, pure)


@pytest.fixture(scope="session")
def installed(wheel, tmp_path_factory):
    """A folder ``site-packages`` with the wheel in it, put there by pip."""

    def make(folder):
        target = folder / "lib" / "site-packages"
        pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
        command = [*pip, "install", "--no-deps", "--no-index", "--target", target, wheel.path]
        subprocess.run(command, check=True)

    name = f"installed-{'pure' if wheel.pure else 'compiled'}"
    return once(tmp_path_factory, name, make) / "lib" / "site-packages"
