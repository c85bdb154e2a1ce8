"""Nobody gets another line of marshmallow than the one that is installed, unless they ask."""

from __future__ import annotations

import json
import shutil
import sys
import timeit
import zipfile
from pathlib import Path
from textwrap import dedent

import marshmallow
import pytest

import althaia
from althaia.switch import installed, redirect
from tests.redirect.processes import IS_OURS, run, succeed

ROOT = Path(althaia.__file__).parent.parent
CHECK = f"import marshmallow, sys; print('ours' if {IS_OURS} else 'real')"
OTHER_LINES = ["3.26.2", "4.0.1", "4.3.1", "4.5.0", "5.0.0.dev1"]


@pytest.fixture
def install(tmp_path):
    """Makes a release look installed, before the one that is: its version, its search path."""

    def make(version: str) -> dict[str, str]:
        site = tmp_path / "site"
        folder = site / f"marshmallow-{version}.dist-info"
        folder.mkdir(parents=True)
        (folder / "METADATA").write_text(f"Name: marshmallow\nVersion: {version}\n")
        return {"PYTHONPATH": str(site)}

    return make


@pytest.mark.parametrize("version", OTHER_LINES)
def test_another_line_is_an_error_that_names_both(install, tmp_path, version):
    code = """
        import sys, althaia
        try:
            althaia.patch()
        except althaia.ReleaseError as error:
            assert not althaia.is_patched()
            assert not [f for f in sys.meta_path if type(f).__module__ == "althaia.switch.redirect"]
            print(error.installed, error.served, error, sep="|")
        assert althaia.patch(force=True) and althaia.is_patched()
        assert althaia.patch(), "who forced it once need not force it again"
    """
    out = succeed("-c", dedent(code), cwd=tmp_path, env=install(version))
    found, made_from, text = out.strip().split("|")
    assert (found, made_from) == (version, "4.4.0")
    assert f"marshmallow {version} is installed" in text
    assert "4.4.0" in text
    assert "pip install 'marshmallow~=4.4.0'" in text
    assert "force=True" in text


@pytest.mark.parametrize("version", ["4.4.0", "4.4.3", "4.4.1rc1", "4.4.0+local"])
def test_the_same_line_is_served_and_info_says_so(install, tmp_path, version):
    code = f"import althaia; althaia.patch(); {CHECK}; print(althaia.info().as_text())"
    ours, *info = succeed("-c", code, cwd=tmp_path, env=install(version)).splitlines()
    assert ours == "ours"
    (real,) = (line for line in info if line.startswith("real marshmallow"))
    assert version in real
    assert ("another release of the same line than the 4.4.0" in real) is (version != "4.4.0")


def test_another_line_in_an_archive_is_an_error(install, tmp_path):
    site = Path(install("3.26.2")["PYTHONPATH"])
    (site / "marshmallow").mkdir()
    (site / "marshmallow" / "__init__.py").touch()
    archive = shutil.make_archive(str(tmp_path / "deps"), "zip", site)
    done = run("-m", "althaia", "-c", "print('ran')", cwd=tmp_path, env={"PYTHONPATH": archive})
    assert done.returncode == 1
    assert done.stderr.startswith("python -m althaia: marshmallow 3.26.2 is installed")


def test_an_archive_without_marshmallow_is_passed_over(tmp_path):
    archive = tmp_path / "empty.zip"
    zipfile.ZipFile(archive, "w").close()
    env = {"PYTHONPATH": str(archive)}
    assert succeed("-m", "althaia", "-c", CHECK, cwd=tmp_path, env=env).strip() == "ours"


def test_none_installed_is_an_error_unless_forced(tmp_path):
    code = """
        import sys
        sys.path.insert(0, ROOT)
        import althaia
        try:
            althaia.patch()
        except althaia.ReleaseError as error:
            assert error.installed is None and "no marshmallow is installed" in str(error)
        else:
            raise AssertionError
        assert althaia.info().as_dict()["real"]["relation"] == "not installed"
        althaia.patch(force=True)
        import marshmallow
        print(marshmallow.Schema.__module__)
    """
    code = dedent(code).replace("ROOT", repr(str(ROOT)))
    assert succeed("-S", "-c", code, cwd=tmp_path).strip() == "marshmallow.schema"


def test_the_runner_stops(install, tmp_path):
    done = run("-m", "althaia", "-c", "print('ran')", cwd=tmp_path, env=install("3.26.2"))
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("python -m althaia: marshmallow 3.26.2 is installed")
    assert done.stderr.count("\n") == 1


def test_the_pytest_plugin_stops(install, tmp_path):
    (tmp_path / "test_it.py").write_text("def test_it(): pass\n")
    words = ["-m", "pytest", "-p", "no:cacheprovider", "-p", "althaia.pytest_plugin"]
    done = run(*words, cwd=tmp_path, env={**install("3.26.2"), "PYTEST_ADDOPTS": ""})
    assert done.returncode == 4
    assert "marshmallow 3.26.2 is installed" in done.stderr
    assert "Traceback" not in done.stderr


BAD_STARTS = [
    ({"ALTHAIA_PATCH": "yess"}, "ALTHAIA_PATCH is 'yess'"),
    ({"ALTHAIA_PATCH": "1", "ALTHAIA_PLANS": "maybe"}, "ALTHAIA_PLANS is 'maybe'"),
    ({"ALTHAIA_PATCH": "1", "VERSION": "3.26.2"}, "marshmallow 3.26.2 is installed"),
]


@pytest.mark.parametrize(("env", "text"), BAD_STARTS)
def test_at_start_up_it_is_one_line_and_the_real_one(install, tmp_path, env, text):
    found = install(env["VERSION"]) if "VERSION" in env else {}
    done = run("-c", CHECK, cwd=tmp_path, env={**env, **found})
    assert done.returncode == 0
    assert done.stdout.strip() == "real"
    assert done.stderr.startswith("althaia: not redirecting marshmallow: ")
    assert done.stderr.count("\n") == 1
    assert text in done.stderr


@pytest.mark.parametrize("strict", ["1", "yes", "of course"])
@pytest.mark.parametrize(("env", "text"), BAD_STARTS)
def test_at_start_up_it_stops_where_strict(install, tmp_path, env, text, strict):
    found = install(env["VERSION"]) if "VERSION" in env else {}
    env = {**env, **found, "ALTHAIA_STRICT": strict}
    done = run("-c", "print('ran')", cwd=tmp_path, env=env)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("althaia: stopped, as ALTHAIA_STRICT asks: ")
    assert done.stderr.count("\n") == 1
    assert strict == "of course" or text in done.stderr


def test_the_release_is_read_from_the_build_info():
    stamp = json.loads((ROOT / "althaia" / "_build_info.json").read_text("utf-8"))
    assert installed.served() == stamp["upstream"]["version"]


def test_the_installed_one_is_found_in_other_forms(tmp_path, monkeypatch):
    folder = tmp_path / "older"
    (folder / "marshmallow-3.0.0-py3.11.egg-info").mkdir(parents=True)
    (folder / "marshmallow_sqlalchemy-1.0.dist-info").mkdir()
    monkeypatch.setattr(sys, "path", [str(tmp_path / "missing"), str(folder)])
    assert installed.installed() == "3.0.0"


def test_found_before_the_start_up_files_have_all_run(tmp_path, monkeypatch):
    """A start-up file runs while the folders that follow its own are not on the path yet."""
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert installed.installed() is not None


def test_asking_costs_little_and_imports_nothing(tmp_path):
    code = """
        import sys
        from althaia.switch import installed
        before = set(sys.modules)
        installed.check()
        print(sorted(set(sys.modules) - before))
    """
    assert succeed("-c", dedent(code), cwd=tmp_path).strip() == "[]"


@pytest.mark.alone
def test_asking_takes_less_than_a_millisecond():
    assert min(timeit.repeat(installed.check, number=5, repeat=20)) / 5 < 0.001


def test_the_late_error_names_the_way_for_commands_that_import_the_application():
    error = redirect.LatePatchError({"flask_marshmallow": ["Schema"]})
    assert "'flask run'" in str(error)
    assert "set ALTHAIA_PATCH=1 there" in str(error)


def test_upstreams_names_come_from_the_copy_and_only_when_asked(program):
    program(
        """
        import sys
        import althaia
        assert not [name for name in sys.modules if name.endswith("marshmallow")]
        from althaia import Schema, ValidationError, fields, post_load, validate
        ours = sys.modules["althaia.marshmallow"]
        assert "marshmallow" not in sys.modules
        assert Schema is ours.Schema and fields is ours.fields and validate is ours.validate
        assert set(ours.__all__) <= set(dir(althaia))
        for name in [*ours.__all__, "validate"]:
            assert getattr(althaia, name) is getattr(ours, name), name
        althaia.patch()
        import marshmallow
        assert Schema is marshmallow.Schema is althaia.Schema
        assert not hasattr(althaia, "nope")
        """
    )


def test_nothing_that_upstream_exports_is_forgotten():
    assert {*marshmallow.__all__, "validate"} == set(althaia._UPSTREAMS)
