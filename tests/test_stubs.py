"""The stubs of extension modules say what the modules have."""

import subprocess
import sys
from pathlib import Path

import pytest

import althaia

ROOT = Path(__file__).parents[1]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not althaia.info().compiled, reason="a pure build has no extension modules"),
]


def test_stubs_say_what_the_modules_have():
    pytest.importorskip("mypy.stubtest")
    modules = [
        ".".join(stub.relative_to(ROOT).with_suffix("").parts)
        for stub in sorted((ROOT / "althaia").rglob("*.pyi"))
        if "marshmallow" not in stub.relative_to(ROOT / "althaia").parts
    ]
    assert modules
    # What no Python code of ours uses needs no stub.
    command = [sys.executable, "-m", "mypy.stubtest", "--concise", "--ignore-missing-stub"]
    done = subprocess.run([*command, *modules], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_json_is_typed_as_the_standard_librarys(tmp_path):
    api = pytest.importorskip("mypy.api")
    (tmp_path / "program.py").write_text(
        "from althaia import json\ntext: str = json.dumps({})\nbad: int = json.dumps({})\n"
    )
    said, _, code = api.run(["--strict", str(tmp_path / "program.py")])
    assert code == 1
    assert 'expression has type "str", variable has type "int"' in said
    assert "Found 1 error" in said
