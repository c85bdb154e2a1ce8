"""What is compiled, how, and when a compiled module may be used again."""

from pathlib import Path

import pytest

from buildtools import compile as compiling, generate
from buildtools.layout import Layout
from buildtools.modules import UPSTREAM, CompiledModule, compiled_modules
from buildtools.toolchain import Toolchain, linker, toolchain

FILES = {
    "__init__.py": "",
    "plain.py": "",
    "engine/run.pyx": 'from althaia.engine.fast cimport run\ninclude "run/dump.pyx"\n',
    "engine/fast.pxd": 'cdef extern from "althaia/fast.h"',
    "engine/run/dump.pyx": "",
    "json/writer.pyx": "",
    "marshmallow/__init__.py": "",
    "marshmallow/error_store.py": "",
    "marshmallow/fields.py": "",
    "marshmallow/experimental/__init__.py": "",
    "marshmallow/experimental/context.py": "",
}


@pytest.fixture
def tree(tmp_path):
    for name, text in FILES.items():
        path = tmp_path / "althaia" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Layout(tmp_path)


def test_modules_are_found_by_place_and_suffix(tree):
    assert {m.name: m.upstream for m in compiled_modules(tree)} == {
        "althaia.marshmallow.error_store": True,
        "althaia.marshmallow.experimental.context": True,
        "althaia.marshmallow.fields": True,
        "althaia.engine.run": False,
        "althaia.json.writer": False,
    }


def test_foreign_binaries_are_removed(tree):
    for name in ("fields.cpython-27-x.so", "experimental/context.cp399-win.pyd"):
        (tree.generated / name).write_bytes(b"")
    (tree.package / "engine" / "gone.cpython-311.so").write_bytes(b"")
    assert len(compiling.remove_binaries(tree)) == 3
    assert [*tree.package.rglob("*.so"), *tree.package.rglob("*.pyd")] == []


def test_files_upstream_no_longer_has_are_removed_and_unchanged_ones_not_written_again(tree):
    generated = {"fields.py": b"x = 1\n", "py.typed": b""}
    generate.write(tree, generated)
    assert {p.name for p in tree.generated.rglob("*") if p.is_file()} == {*generated}
    before = (tree.generated / "fields.py").stat().st_mtime_ns
    generate.write(tree, generated)
    assert (tree.generated / "fields.py").stat().st_mtime_ns == before


TOOLS = Toolchain(("-O2",), ())
RUN, WRITER, FIELDS = "althaia.engine.run", "althaia.json.writer", "althaia.marshmallow.fields"


def keys(tree, environ=None):
    """What decides whether a compiled module may be used again."""
    found = {m.name: compiling.key(tree, m, TOOLS, environ or {}) for m in compiled_modules(tree)}
    return {name: found[name] for name in (RUN, WRITER, FIELDS)}


@pytest.mark.parametrize(
    ("changed", "others"),
    [
        *((f"engine/{name}", {RUN}) for name in ("run/dump.pyx", "run.pxd", "fast.pxd")),
        ("fast.h", {RUN}),
        ("marshmallow/experimental/context.py", set()),
        ("marshmallow/fields.py", {FIELDS}),
    ],
)
def test_a_module_is_made_again_if_what_went_into_it_has_changed(tree, changed, others):
    before = keys(tree)
    assert keys(tree) == before
    (tree.package / changed).write_text("x = 1\n")
    assert {name for name, key in keys(tree).items() if key != before[name]} == others


def test_the_compilers_settings_and_directives_count(tree):
    for variable in ("CC", "CFLAGS", "LDFLAGS"):
        assert keys(tree)[FIELDS] != keys(tree, {variable: "other"})[FIELDS]
    source = Path("althaia/marshmallow/fields.py")
    one, two = (
        compiling.key(tree, CompiledModule(FIELDS, source, directives, True), TOOLS, {})
        for directives in (UPSTREAM, {**UPSTREAM, "binding": False})
    )
    assert one != two


def test_cflags_that_state_a_level_are_believed():
    assert "-O2" in toolchain({}).compile_args
    assert "-O2" not in toolchain({"CFLAGS": "-O0 -pipe"}).compile_args
    assert "-g0" in toolchain({"CFLAGS": "-O0"}).compile_args
    kept = [each for each in toolchain({"CFLAGS": "-O1"}).compile_args if each != "-g0"]
    assert toolchain({"CFLAGS": "-O1 -g"}) == Toolchain(tuple(kept), ())


def test_no_library_folder_of_this_machine_is_linked_in():
    command = "gcc -shared -L/opt/py/lib -Wl,-rpath,/opt/py/lib -Wl,-z,now -Lrelative"
    assert linker(command) == "gcc -shared -Wl,-z,now -Lrelative"
