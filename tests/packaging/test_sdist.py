"""The sdist carries what the build reads and nothing that it makes."""

import tarfile

import pytest

from tests.packaging.conftest import ROOT

pytestmark = pytest.mark.slow


def names(sdist):
    with tarfile.open(sdist) as archive:
        return {name.partition("/")[2] for name in archive.getnames()}


def test_what_the_build_reads_is_in_it(sdist):
    expected = {"build_ext.py", "pyproject.toml", "LICENSE", "README.md"}
    expected |= {"althaia_startup.pth", "patches/series", "vendor/marshmallow/lock.toml"}
    expected |= {"althaia/releases/semantics.toml", "tests/packaging/test_sdist.py"}
    for folder, pattern in (
        ("buildtools", "*.py"),
        ("patches", "*"),
        ("althaia", "**/*.pyx"),
        ("althaia", "**/*.pxd"),
        ("althaia", "**/*.h"),
    ):
        expected |= {p.relative_to(ROOT).as_posix() for p in (ROOT / folder).glob(pattern)}
    assert expected - names(sdist) == set()


def test_what_is_made_and_third_party_source_are_not(sdist):
    found = names(sdist)
    assert [name for name in found if name.startswith("althaia/marshmallow")] == []
    assert "althaia/_build_info.json" not in found
    assert [name for name in found if name.endswith((".so", ".pyd", ".c", ".pyc"))] == []
    in_vendor = {name for name in found if name.startswith("vendor/")}
    assert in_vendor == {"vendor/marshmallow/README.md", "vendor/marshmallow/lock.toml"}
