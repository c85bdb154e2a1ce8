"""An application frozen by PyInstaller runs on the compiled copy, plans and all."""

import json
import subprocess
import sys
import sysconfig

import pytest

import althaia
from tests.redirect import processes

pytest.importorskip("PyInstaller", reason="only where PyInstaller supports the interpreter")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        sys.platform == "linux" and not sysconfig.get_config_var("Py_ENABLE_SHARED"),
        reason="PyInstaller needs a Python with a shared library",
    ),
]

# What no plan needs and other packages of this environment import where it is there.
ELSEWHERE = ("PIL", "matplotlib", "numpy", "pyarrow", "rich", "setuptools", "sphinx", "sqlalchemy")

PROGRAM = """
import json, sys
import althaia
althaia.patch()
import marshmallow
from marshmallow import Schema, fields

class Author(Schema):
    name = fields.String()

class Quote(Schema):
    text = fields.String(required=True)
    day = fields.Date()
    price = fields.Decimal(as_string=True)
    ip = fields.IP()
    authors = fields.List(fields.Nested(Author))

data = {"text": "x", "day": "2020-01-02", "price": "1.50", "ip": "10.0.0.1",
        "authors": [{"name": "a"}]}
loaded = [Quote().load(data) for _ in range(40)]
dumped = [Quote().dump(each) for each in loaded]
info = althaia.info()
print(json.dumps({
    "frozen": bool(getattr(sys, "frozen", False)),
    "ours": sys.modules["althaia.marshmallow"] is marshmallow,
    "same": dumped == [data] * 40,
    "compiled": info.compiled,
    "plans": info.plans,
    "upstream": info.upstream,
    "calls": sum(side["calls"] for each in althaia.stats().values() for side in each.values()),
    "modules": [name for name in sys.modules if name.startswith(("pytest", "rich"))],
}))
"""


@pytest.fixture(scope="module")
def application(tmp_path_factory):
    folder = tmp_path_factory.mktemp("frozen")
    (folder / "shop.py").write_text(PROGRAM)
    words = ["-m", "PyInstaller", "--noconfirm", "--log-level", "WARN"]
    for name in ELSEWHERE:
        words += ["--exclude-module", name]
    env = {"PYINSTALLER_CONFIG_DIR": str(folder / "config")}
    done = processes.run(*words, "shop.py", cwd=folder, env=env, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "dist" / "shop" / ("shop.exe" if sys.platform == "win32" else "shop")


@pytest.mark.skipif(
    not althaia.info().compiled, reason="a pure build is an ordinary package to PyInstaller"
)
def test_a_frozen_application(application, tmp_path):
    done = subprocess.run([application], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said.pop("calls") >= 4  # A schema gets a plan after some uses.
    assert said == {
        "frozen": True,
        "ours": True,
        "same": True,
        "compiled": True,
        "plans": "on",
        "upstream": "4.4.0",
        "modules": [],
    }
