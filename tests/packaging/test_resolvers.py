"""Which versions installers choose beside an application's own requirement of marshmallow.

A folder holds marshmallow in several releases, the published althaia 4.3.0, which requires
nothing, and althaia as it is here. The archives are empty: only their metadata are asked.
"""

import json
import subprocess
import sys
import tomllib
import zipfile
from importlib.util import find_spec

import pytest

from tests.packaging.conftest import ROOT

pytestmark = pytest.mark.slow

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
OURS, REQUIRES = PROJECT["version"], PROJECT["dependencies"]
PUBLISHED = "4.3.0"

BESIDE = {
    "marshmallow<4": "3.26.1",
    "marshmallow==3.26.1": "3.26.1",
    "marshmallow==4.3.0": "4.3.0",
    "marshmallow>=3.20": "4.4.0",
}
"""What an application asks for, and the release that it has to get."""


def wheel(index, name, version, requires=()):
    """Put an archive without code into a folder."""
    information = f"{name}-{version}.dist-info"
    needed = "".join(f"Requires-Dist: {each}\n" for each in requires)
    with zipfile.ZipFile(index / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        archive.writestr(
            f"{information}/METADATA",
            f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needed}",
        )
        archive.writestr(
            f"{information}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{information}/RECORD", "")


@pytest.fixture
def index(tmp_path):
    for version in ("3.26.1", "4.3.0", "4.4.0"):
        wheel(tmp_path, "marshmallow", version)
    wheel(tmp_path, "althaia", PUBLISHED)
    wheel(tmp_path, "althaia", OURS, REQUIRES)
    return str(tmp_path)


def run(*words, given=""):
    done = subprocess.run(
        [sys.executable, "-m", *words],
        input=given, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def by_pip(index, *wanted):
    out = run(
        "pip", "--isolated", "--disable-pip-version-check", "install", "--quiet", "--dry-run",
        "--ignore-installed", "--no-cache-dir", "--no-index", "--find-links", index,
        "--report", "-", *wanted,
    )  # fmt: skip
    found = [each["metadata"] for each in json.loads(out)["install"]]
    return {each["name"]: each["version"] for each in found}


def by_uv(index, *wanted):
    if find_spec("uv") is None:
        pytest.skip("uv is not installed here")
    out = run(
        "uv", "pip", "compile", "--no-config", "--no-cache", "--quiet", "--no-header",
        "--no-annotate", "--no-index", "--find-links", index, "-", given="\n".join(wanted),
    )  # fmt: skip
    return dict(line.split("==") for line in out.split())


INSTALLERS = {"pip": by_pip, "uv": by_uv}


@pytest.mark.parametrize("beside", BESIDE)
@pytest.mark.parametrize("installer", INSTALLERS)
def test_the_applications_release_and_our_newest(index, installer, beside):
    chosen = INSTALLERS[installer](index, beside, "althaia")
    assert chosen == {"althaia": OURS, "marshmallow": BESIDE[beside]}
