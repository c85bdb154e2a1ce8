"""The stages together, in small trees: what they leave behind, and how they stop."""

import json
import multiprocessing
import os
import re
import shutil
import sys

import pytest

from buildtools import compile as compiling
from buildtools.errors import BuildError
from buildtools.layout import Layout
from buildtools.modules import compiled_modules
from buildtools.pipeline import build, is_pure, main
from tests.buildtools.conftest import forget
from tests.redirect import processes

pytestmark = pytest.mark.slow

needs_compiler = pytest.mark.skipif(
    is_pure(os.environ), reason="a pure build is what one makes where there is no compiler"
)


@pytest.fixture
def tree(layout, tmp_path):
    """What a build reads, and an upstream's worth of our own package."""
    for name in ("althaia/releases", "patches", "vendor/marshmallow"):
        shutil.copytree(
            layout.root / name, tmp_path / name, ignore=shutil.ignore_patterns("marshmallow-*")
        )
    shutil.copy(layout.root / "pyproject.toml", tmp_path)
    headers = tmp_path / "althaia" / "cpython"
    headers.mkdir(parents=True)
    for header in (layout.package / "cpython").glob("*.h"):
        shutil.copy(header, headers)
    return Layout(tmp_path)


def sources(layout):
    return layout.lock.parent / "marshmallow-4.4.0"


@pytest.fixture
def uncompiled(monkeypatch):
    """The compiler is replaced by nothing, because these tests ask what is generated."""
    monkeypatch.setattr(compiling, "compile_modules", lambda *_: [])


def test_a_pure_build_has_no_copy(tree, layout, pinned):
    (tree.package / "stale.so").write_bytes(b"")
    (tree.generated / "experimental").mkdir(parents=True)
    (tree.generated / "experimental" / "context.py").write_text("of another build\n")
    build(tree, {"ALTHAIA_PURE_BUILD": "1", "ALTHAIA_UPSTREAM": str(sources(layout))})
    assert not tree.generated.exists()
    assert [*tree.package.rglob("*.so")] == []
    info = json.loads(tree.stamp.read_text("utf-8"))
    assert info["compiled"] is False
    assert info["upstream"] is None


@needs_compiler
@pytest.mark.usefixtures("uncompiled")
def test_what_is_generated(tree, layout, pinned):
    build(tree, {"ALTHAIA_UPSTREAM": str(sources(layout))})
    written = {
        path.relative_to(tree.generated).as_posix()
        for path in tree.generated.rglob("*")
        if path.is_file()
    }
    assert written == {*pinned.files, "LICENSE", "NOTICE"}
    schema = (tree.generated / "schema.py").read_text("utf-8")
    asked = set(re.findall(r"_seam\.(\w+)", schema))
    assert {"loaded", "resolve_hooks", "dump", "load"} <= asked
    info = json.loads(tree.stamp.read_text("utf-8"))
    assert info["compiled"] is True
    assert info["upstream"] == {"version": "4.4.0", "pinned": False}
    assert info["semantics"]["differing"] == []


@needs_compiler
@pytest.mark.usefixtures("uncompiled")
def test_another_line_builds_and_says_what_it_does_not_know(tree, layout, older_line, capsys):
    folder = layout.lock.parent / "marshmallow-3.26.2"
    forget(tree.semantics, "fields.TimeDelta._deserialize")
    assert main(tree.root, {"ALTHAIA_UPSTREAM": str(folder)}) == 0
    assert (tree.generated / "base.py").is_file()
    differing = json.loads(tree.stamp.read_text("utf-8"))["semantics"]["differing"]
    assert "fields.TimeDelta._deserialize" in differing
    assert "fields.TimeDelta._deserialize" in capsys.readouterr().out


def test_an_error_is_one_message_and_an_exit_code(tree, layout, pinned, capsys):
    assert main(tree.root, {"ALTHAIA_UPSTREAM": str(tree.root)}) == 1
    said = capsys.readouterr().err
    assert "ALTHAIA_UPSTREAM names a folder without src/marshmallow/schema.py" in said
    assert "\n  -> " in said
    assert "Traceback" not in said


@pytest.mark.parametrize(("value", "answer"), [("1", True), ("", False), ("0", False)])
@pytest.mark.parametrize("interpreter", ["cpython", "pypy"])
def test_a_pure_build_is_asked_for_or_made_elsewhere_than_on_cpython(
    interpreter, value, answer, monkeypatch
):
    monkeypatch.setattr(sys.implementation, "name", interpreter)
    assert is_pure({"ALTHAIA_PURE_BUILD": value}) is (answer or interpreter == "pypy")


def write_module(tree, text):
    (tree.package / "__init__.py").touch()
    (tree.package / "total.pyx").write_text(text, "utf-8")


@needs_compiler
def test_a_compiler_failure_is_an_error(tree, monkeypatch):
    write_module(tree, "total = 1\n")
    monkeypatch.setenv("CC", "false")
    monkeypatch.setattr(compiling, "_translate", lambda *_: pytest.fail("Cython ran first"))
    with pytest.raises(BuildError, match=r"ALTHAIA_PURE_BUILD=1") as caught:
        compiling.compile_modules(tree, compiled_modules(tree), os.environ)
    assert str(caught.value).startswith("compiling: ")
    assert "'false' cannot compile a C file" in str(caught.value)
    assert [*tree.package.rglob("*.so")] == []


@needs_compiler
@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_however_processes_start(tree, layout, method):
    """The start method of macOS and Windows is spawn, since 3.14 that of Linux is forkserver."""
    build_script(tree, layout, f"multiprocessing.set_start_method({method!r})")
    done = run_script(tree)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len([*tree.package.glob("number*.so"), *tree.package.glob("number*.pyd")]) == 2


@needs_compiler
def test_a_worker_that_dies_is_named(tree, layout):
    dies = "if __name__ == '__mp_main__': import os; os._exit(9)"
    build_script(tree, layout, "multiprocessing.set_start_method('spawn')", dies)
    done = run_script(tree)
    assert done.returncode == 1
    assert "althaia build: translating: a worker process of Cython's ended" in done.stderr
    assert "memory" in done.stderr
    assert "Traceback" not in done.stderr


def build_script(tree, layout, first, second=""):
    """A tree with two small modules, and ``build_ext.py`` as it is but for what comes first."""
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(layout.root / "buildtools", tree.root / "buildtools", ignore=ignore)
    (tree.package / "__init__.py").touch()
    for number in (1, 2):
        (tree.package / f"number{number}.pyx").write_text(f"number = {number}\n", "utf-8")
    # Upstream's modules are left out: they would take a minute, and nothing here needs them.
    changed = f"""
from buildtools import pipeline; pipeline.generate.write = lambda *_: None
import multiprocessing
try:
    {first}
except RuntimeError:  # A worker knows already.
    pass
{second}
from buildtools.pipeline"""
    text = (layout.root / "build_ext.py").read_text("utf-8")
    text = text.replace("\nfrom buildtools.pipeline", changed, 1)
    (tree.root / "build_ext.py").write_text(text, "utf-8")


def run_script(tree):
    return processes.run("build_ext.py", cwd=tree.root, env={"CFLAGS": "-O0"}, timeout=300)


@needs_compiler
def test_what_cython_refuses_is_an_error(tree, capfd):
    write_module(tree, "from nowhere cimport nothing\n")
    with pytest.raises(BuildError, match="compiling: CompileError"):
        compiling.compile_modules(tree, compiled_modules(tree), os.environ)
    assert "total.pyx" in capfd.readouterr().err


@needs_compiler
def test_our_modules_use_declarations_and_headers_beside_them(tree, monkeypatch):
    text = "from althaia.twice cimport twice\n\n\ndef total(int x):\n    return twice(x) + 1\n"
    write_module(tree, text)
    declared = 'cdef extern from "althaia/twice.h":\n    int twice(int) nogil\n'
    (tree.package / "twice.pxd").write_text(declared)
    (tree.package / "twice.h").write_text("static int twice(int x) { return 2 * x; }\n")
    monkeypatch.setenv("CFLAGS", "-O0")

    def compiled():
        return compiling.compile_modules(tree, compiled_modules(tree), os.environ)

    assert (compiled(), compiled()) == (["althaia.total"], [])
    (binary,) = tree.package.glob("total.*[!x]")
    before = binary.read_bytes()
    shutil.rmtree(tree.work)
    assert compiled() == ["althaia.total"]
    assert binary.read_bytes() == before, "the same sources make the same binary"
    code = "import sys; sys.path[:0] = ['']\nfrom althaia import total as t; print(t.total(20))"
    assert processes.succeed("-c", code, cwd=tree.root) == "41\n"
