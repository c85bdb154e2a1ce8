"""What is compiled, how, and when a compiled module may be used again."""

import json
from pathlib import Path

import pytest

from buildtools import compile as compiling
from buildtools import generate
from buildtools.layout import Layout
from buildtools.modules import OWN, UPSTREAM, CompiledModule, compiled_modules
from buildtools.toolchain import Toolchain, linker, toolchain


@pytest.fixture
def tree(tmp_path):
    """A small package of the same shape as ours."""
    for name in (
        "althaia/__init__.py",
        "althaia/plain.py",
        "althaia/engine/run.pyx",
        "althaia/engine/run/dump.pyx",
        "althaia/json/writer.pyx",
        "althaia/marshmallow/__init__.py",
        "althaia/marshmallow/error_store.py",
        "althaia/marshmallow/fields.py",
        "althaia/marshmallow/experimental/__init__.py",
        "althaia/marshmallow/experimental/context.py",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    (tmp_path / "althaia/engine/run.pyx").write_text(
        'from althaia.engine.fast cimport run\ninclude "run/dump.pyx"\n'
    )
    (tmp_path / "althaia/engine/fast.pxd").write_text('cdef extern from "althaia/fast.h"')
    return Layout(tmp_path)


def test_modules_are_found_by_place_and_suffix(tree):
    assert {m.name: m.upstream for m in compiled_modules(tree)} == {
        "althaia.marshmallow.error_store": True,
        "althaia.marshmallow.experimental.context": True,
        "althaia.marshmallow.fields": True,
        "althaia.engine.run": False,
        "althaia.json.writer": False,
    }


def test_directives():
    assert UPSTREAM["annotation_typing"] is False
    assert UPSTREAM["infer_types"] is False
    assert UPSTREAM["binding"] is True
    for directives in (UPSTREAM, OWN):
        assert directives["freethreading_compatible"] is True
        assert directives["language_level"] == 3


def test_foreign_binaries_are_removed(tree):
    for name in ("fields.cpython-27-x.so", "experimental/context.cp399-win.pyd"):
        (tree.generated / name).write_bytes(b"")
    (tree.package / "engine" / "gone.cpython-311.so").write_bytes(b"")
    assert len(compiling.remove_binaries(tree)) == 3
    assert [*tree.package.rglob("*.so"), *tree.package.rglob("*.pyd")] == []


def test_files_upstream_no_longer_has_are_removed(tree):
    generate.write(tree, {"fields.py": b"x = 1\n", "py.typed": b""})
    assert {p.name for p in tree.generated.rglob("*") if p.is_file()} == {"fields.py", "py.typed"}


def test_unchanged_files_are_not_written_again(tree):
    generated = {"fields.py": b"x = 1\n"}
    generate.write(tree, generated)
    before = (tree.generated / "fields.py").stat().st_mtime_ns
    generate.write(tree, generated)
    assert (tree.generated / "fields.py").stat().st_mtime_ns == before


class TestKey:
    """A compiled module is used again only if nothing that went into it has changed."""

    tools = Toolchain(("-O2",), ())

    def key(self, tree, name, **environ):
        module = {m.name: m for m in compiled_modules(tree)}[name]
        return compiling.key(tree, module, self.tools, environ)

    def test_same_input_same_key(self, tree):
        name = "althaia.engine.run"
        assert self.key(tree, name) == self.key(tree, name)

    @pytest.mark.parametrize(
        "changed", ["engine/run/dump.pyx", "engine/run.pxd", "engine/fast.pxd", "fast.h"]
    )
    def test_our_modules_depend_on_what_they_include_and_declare(self, tree, changed):
        before, other = self.key(tree, "althaia.engine.run"), self.key(tree, "althaia.json.writer")
        (tree.package / changed).write_text("x = 1\n")
        assert self.key(tree, "althaia.engine.run") != before
        assert self.key(tree, "althaia.json.writer") == other

    def test_upstreams_depend_on_their_own_source_only(self, tree):
        before = self.key(tree, "althaia.marshmallow.fields")
        (tree.package / "engine" / "fast.pxd").write_text("x")
        (tree.generated / "experimental" / "context.py").write_text("x")
        assert self.key(tree, "althaia.marshmallow.fields") == before
        (tree.generated / "fields.py").write_text("x")
        assert self.key(tree, "althaia.marshmallow.fields") != before

    @pytest.mark.parametrize("variable", ["CC", "CFLAGS", "LDFLAGS"])
    def test_the_compilers_settings_count(self, tree, variable):
        name = "althaia.marshmallow.fields"
        assert self.key(tree, name) != self.key(tree, name, **{variable: "other"})

    def test_directives_count(self, tree):
        source = Path("althaia/marshmallow/fields.py")
        one, two = (
            CompiledModule("althaia.marshmallow.fields", source, directives, True)
            for directives in (UPSTREAM, {**UPSTREAM, "binding": False})
        )
        assert compiling.key(tree, one, self.tools, {}) != compiling.key(tree, two, self.tools, {})


def test_cflags_that_state_a_level_are_believed():
    assert "-O2" in toolchain({}).compile_args
    assert "-O2" not in toolchain({"CFLAGS": "-O0 -pipe"}).compile_args
    assert "-g0" in toolchain({"CFLAGS": "-O0"}).compile_args
    assert toolchain({"CFLAGS": "-O1 -g"}) == Toolchain(
        tuple(a for a in toolchain({"CFLAGS": "-O1"}).compile_args if a != "-g0"), ()
    )


def test_no_library_folder_of_this_machine_is_linked_in():
    command = "gcc -shared -L/opt/py/lib -Wl,-rpath,/opt/py/lib -Wl,-z,now -Lrelative"
    assert linker(command) == "gcc -shared -Wl,-z,now -Lrelative"


def test_the_build_info_is_that_of_this_tree(layout):
    """What ``info`` reports comes from here; sources edited since would show as stale."""
    info = json.loads(layout.stamp.read_text("utf-8"))
    assert set(info["modules"]) == {m.name for m in compiled_modules(layout)}
    assert info["semantics"]["differing"] == []
    of_copy = {"version": "4.4.0", "pinned": True}
    assert info["upstream"] == (of_copy if info["compiled"] else None)
