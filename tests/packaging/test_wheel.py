"""Open the wheel and look."""

import base64
import csv
import hashlib
import json
import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import marshmallow
import pytest

from buildtools import lock
from buildtools.layout import Layout
from buildtools.modules import INTERPRETED
from tests.packaging.conftest import BESIDE, ROOT, Wheel, building

pytestmark = pytest.mark.slow

SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")


def binaries(wheel):
    return [name for name in wheel.names() if name.endswith((".so", ".pyd"))]


def test_tag(wheel):
    text = wheel.metadata("WHEEL")
    tags = re.findall(r"^Tag: (.*)$", text, re.MULTILINE)
    assert tags == [wheel.path.stem.split("-", 2)[2]]
    if wheel.pure:
        assert tags == ["py3-none-any"]
        assert "Root-Is-Purelib: true" in text
    else:
        number = f"cp{sys.version_info.major}{sys.version_info.minor}"
        # Behind the number there may stand what else binaries depend on: "t", "d".
        assert re.match(f"{number}-{number}t?d?-", tags[0])
        # A tag that promises more than anybody has checked is auditwheel's to give.
        assert "manylinux" not in tags[0]
        assert "Root-Is-Purelib: false" in text


def test_every_module_that_is_to_be_compiled_is(wheel):
    if wheel.pure:
        assert binaries(wheel) == []
        return
    expected = {
        name.removesuffix(".py") + SUFFIX
        for name in wheel.names()
        if name.startswith("althaia/marshmallow/")
        and name.endswith(".py")
        and Path(name).name not in INTERPRETED
    } | {name.removesuffix(".pyx") + SUFFIX for name in wheel.names() if name.endswith(".pyx")}
    # What another source includes is a part of that one.
    info = json.loads(wheel.read("althaia/_build_info.json"))
    parts = {part for module in info["modules"].values() for part in module["sources"][1:]}
    assert len(parts) > 30
    expected -= {part.removesuffix(".pyx") + SUFFIX for part in parts}
    assert set(binaries(wheel)) == expected


def test_all_of_upstreams_modules_and_no_others(wheel):
    locked = lock.read(Layout(ROOT).lock)
    prefix = "althaia/marshmallow/"
    found = {
        name.removeprefix(prefix)
        for name in wheel.names()
        if name.startswith(prefix) and not name.endswith((".so", ".pyd"))
    }
    assert found == (set() if wheel.pure else {*locked.files, "LICENSE", "NOTICE"})


def test_licences_and_type_markers(wheel):
    assert "Copyright" in wheel.metadata("licenses/LICENSE")
    text = wheel.metadata("METADATA")
    assert "\nLicense-Expression: MIT AND BSD-3-Clause\n" in text
    said = re.findall(r"^License-File: (.*)$", text, re.MULTILINE)
    assert "althaia/py.typed" in wheel.names()
    if wheel.pure:
        assert said == ["LICENSE"]
        return
    assert sorted(said) == ["LICENSE", "marshmallow/LICENSE", "marshmallow/NOTICE"]
    for name in ("LICENSE", "NOTICE"):
        shipped = wheel.read(f"althaia/marshmallow/{name}")
        assert wheel.metadata(f"licenses/marshmallow/{name}").encode() == shipped
    assert b"Steven Loria" in wheel.read("althaia/marshmallow/LICENSE")
    assert b"Django" in wheel.read("althaia/marshmallow/NOTICE")
    assert "althaia/marshmallow/py.typed" in wheel.names()


def test_the_patch_queue_is_in_the_package(wheel):
    queue = {path.name: path.read_bytes() for path in Layout(ROOT).patches.iterdir()}
    del queue["README.md"]
    folder = "althaia/releases/patches/"
    names = [name for name in wheel.names() if name.startswith(folder)]
    assert {name.removeprefix(folder): wheel.read(name) for name in names} == queue


def test_nothing_else_ships(wheel):
    allowed = {".py", ".pyi", ".pyx", ".pxd", ".h", ".json", ".typed", ".so", ".pyd", ".pth"}
    # Upstream's source is patched at run time where another release is installed.
    allowed |= {".patch", ".toml", ""}
    for name in wheel.names():
        if ".dist-info/" not in name:
            assert Path(name).suffix in allowed, name
            assert name.startswith("althaia/") or name == "althaia_startup.pth", name
    assert "althaia_startup.pth" in wheel.names()


def test_metadata(wheel):
    text = wheel.metadata("METADATA")
    assert "\nName: althaia\n" in text
    assert re.search(r"^Requires-Dist: marshmallow ?\(?>=3\.13\)?$", text, re.MULTILINE)
    unconditional = re.findall(r"^Requires-Dist: (?!.*extra ==)(.*)$", text, re.MULTILINE)
    assert len(unconditional) == 1


def test_record_is_right(wheel):
    rows = {row[0]: row[1:] for row in csv.reader(wheel.metadata("RECORD").splitlines())}
    assert sorted(rows) == wheel.names()
    for name, (hashed, size) in rows.items():
        if name.endswith("/RECORD"):
            continue
        data = wheel.read(name)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        assert (hashed, size) == (f"sha256={digest}", str(len(data))), name


def test_build_info_says_what_this_is(wheel):
    info = json.loads(wheel.read("althaia/_build_info.json"))
    assert info["compiled"] is not wheel.pure
    for name, module in info["modules"].items():
        text = b"".join([wheel.read(source) for source in module["sources"]])
        assert hashlib.sha256(text).hexdigest() == module["sha256"], name


def test_no_path_of_the_build_machine(wheel, unpacked):
    places = {str(unpacked), str(unpacked.parent), str(Path.home()), str(ROOT)} - {"/"}
    for name in wheel.names():
        data = wheel.read(name)
        assert not [place for place in places if place.encode() in data], name


@pytest.mark.skipif(sys.platform != "linux", reason="reads ELF section names")
def test_binaries_are_stripped(wheel):
    for name in binaries(wheel):
        data = wheel.read(name)
        assert b".debug_info" not in data, name
        assert b".symtab" not in data, name


def test_it_installs_and_works(wheel, installed, tmp_path):
    code = f"""
import site, sys
sys.path.insert(0, {str(installed)!r})
from althaia import marshmallow as ma
from althaia.marshmallow import schema
# A pure build serves the installed marshmallow.
assert schema.__file__.startswith({str(installed)!r}) is {not wheel.pure}, schema.__file__
assert schema.__file__.endswith({".py" if wheel.pure else SUFFIX!r}), schema.__file__
S = ma.Schema.from_dict({{"a": ma.fields.Integer(), "b": ma.fields.DateTime()}})
print(S().dump({{"a": "1"}}), S().load({{"a": "2", "b": "2020-01-02T03:04:05"}}))
"""
    environ = {k: v for k, v in os.environ.items() if not k.startswith(("ALTHAIA_", "PYTHON"))}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("{'a': 1} {'a': 2, 'b': datetime.datetime(2020, 1, 2, 3, 4, 5)}")


# Used without the redirect, so that nothing of ours helps tracebacks to their lines.
FAILING = """
import json, sys, traceback
sys.path.insert(0, TARGET)
from althaia import marshmallow as ma
S = ma.Schema.from_dict({"f": ma.fields.Function(lambda obj: 1 / 0), "i": ma.fields.Integer()})
import sentry_sdk
from sentry_sdk.transport import Transport
class Keep(Transport):
    def capture_envelope(self, envelope):
        self.event = envelope.get_event()
keep = Keep()
sentry_sdk.init(dsn="https://public@localhost/1", transport=keep, default_integrations=False)
for _ in range(4):
    try:
        S().dump({"i": 1})
    except ZeroDivisionError as error:
        shown = traceback.extract_tb(error.__traceback__)
        sentry_sdk.capture_exception(error)
frames = keep.event["exception"]["values"][0]["stacktrace"]["frames"]
print(json.dumps([[[f.filename, f.line] for f in shown],
                  [[f["abs_path"], f.get("in_app")] for f in frames]]))
"""


def test_frames_are_those_of_an_installed_library(wheel, installed, tmp_path):
    """Tracebacks show upstream's lines, and Sentry takes none of our frames for the program's."""
    # A pure build serves the installed marshmallow.
    library = str(Path(marshmallow.__file__).parent) if wheel.pure else str(installed)
    environ = {k: v for k, v in os.environ.items() if not k.startswith(("ALTHAIA_", "PYTHON"))}
    for plans in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-c", FAILING.replace("TARGET", repr(str(installed)))],
            cwd=tmp_path,
            env={**environ, "ALTHAIA_PLANS": plans},
            capture_output=True,
            text=True,
            check=True,
        )
        shown, sent = json.loads(done.stdout)
        for name, line in shown:
            if name.startswith((str(installed), library)):
                assert line, name
            else:
                assert name == "<string>", name
        assert sum(name.startswith(library) for name, _ in shown) >= (3 if plans == "0" else 1)
        assert {in_app for name, in_app in sent if name.startswith(library)} == {False}
        assert sent[-1][1] is not False


def test_a_build_does_not_touch_another_wheel_beside_it(wheel):
    assert wheel.path.with_name(BESIDE).read_bytes() == b"somebody's"
    if wheel.pure:
        assert wheel.path.name == "althaia-5.0.0-py3-none-any.whl"


def test_an_editable_install_gets_the_start_up_file_too(unpacked, tmp_path):
    code = f"from buildtools import backend; backend.build_editable({str(tmp_path)!r})"
    with building(unpacked):
        subprocess.run([sys.executable, "-c", code], cwd=unpacked, check=True, capture_output=True)
    (path,) = tmp_path.iterdir()
    editable = Wheel(path, pure=False)
    assert {"althaia.pth", "althaia_startup.pth"} <= set(editable.names())
    assert editable.read("althaia.pth").decode().strip() == str(unpacked)
    assert "althaia_startup.pth,sha256=" in editable.metadata("RECORD")
