"""The code of installed files is kept, and only used where it is whole and of this very source."""

import os
import sys
from pathlib import Path
from types import CodeType

import marshmallow.schema
import pytest

from althaia.releases import bytecode, source


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    folder = tmp_path / "lib"
    folder.mkdir()
    return folder / "box.py"


def value(path, text):
    codes, *_ = bytecode.code_of({"box.py": text}, str(path.parent), "4.3.1", engine=True)
    namespace = {}
    exec(codes["box.py"], namespace)
    return namespace["A"]


def kept(path):
    return sorted((path.parent / "__pycache__").glob("*.althaia.pyc"))


def test_it_is_made_again_when_the_source_is_another_one(path):
    assert value(path, b"A = 1") == 1
    (file,) = kept(path)
    before = file.read_bytes()
    assert value(path, b"A = 1") == 1
    assert file.read_bytes() == before
    assert value(path, b"A = 2") == 2
    assert file.read_bytes() != before


@pytest.mark.parametrize("size", [0, 7, 60])
def test_a_broken_one_is_replaced(path, size):
    value(path, b"A = 1")
    (file,) = kept(path)
    whole = file.read_bytes()
    file.write_bytes(whole[:size] + b"\0" * (len(whole) - size))
    assert value(path, b"A = 1") == 1
    assert file.read_bytes() == whole


def test_nothing_is_written_where_python_writes_nothing(path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert value(path, b"A = 1") == 1
    assert kept(path) == []


@pytest.mark.skipif(sys.platform == "win32", reason="modes of folders")
def test_the_users_folder_is_private_or_not_used(path, tmp_path):
    (path.parent / "__pycache__").write_text("in the way")
    assert value(path, b"A = 1") == 1
    own = tmp_path / "home" / "althaia"
    assert os.stat(own).st_mode & 0o777 == 0o700
    (file,) = own.iterdir()
    file.unlink()
    own.chmod(0o777)
    assert value(path, b"A = 1") == 1
    assert list(own.iterdir()) == []


def test_a_pure_build_runs_the_methods_of_the_release():
    file = Path(marshmallow.schema.__file__)
    sources = {"schema.py": file.read_bytes()}
    for engine in (True, False):
        given = bytecode.patch_queue(), bytecode.data_of("semantics.toml")
        codes, *_ = source.hooked(sources, str(file.parent), "4.4.0", *given, engine=engine)
        constants = codes["schema.py"].co_consts
        (schema,) = (c for c in constants if getattr(c, "co_name", "") == "Schema")
        methods = [c for c in schema.co_consts if isinstance(c, CodeType)]
        assert any("_seam" in method.co_names for method in methods) is engine
