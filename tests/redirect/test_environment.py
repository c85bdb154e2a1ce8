"""The variables of the environment, the start-up file, and the interpreter's own options."""

import os
import shutil
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path
from textwrap import dedent

import pytest

import althaia
from althaia.switch.config import ConfigError, Settings
from tests.engine import HAS_ENGINE
from tests.redirect.processes import IS_OURS, WAYS_IN, environment, run, succeed

ROOT = Path(althaia.__file__).parent.parent
SITE = Path(str(metadata.distribution("marshmallow").locate_file("")))
CHECK = f"import marshmallow, sys; print('ours' if {IS_OURS} else 'real')"


def test_settings_and_their_defaults():
    assert Settings({}).as_dict() == {
        "compare": 0.0,
        "compare_file": "",
        "compiled": True,
        "disable": False,
        "log": False,
        "notes": False,
        "patch": False,
        "plans": True,
        "require_compiled": False,
    }
    for name in ("PATCH", "DISABLE", "REQUIRE_COMPILED", "COMPILED", "PLANS", "NOTES", "LOG"):
        for text, value in [("1", True), (" Yes ", True), ("off", False), ("0", False)]:
            assert getattr(Settings({f"ALTHAIA_{name}": text}), name.lower()) is value
    assert Settings({"ALTHAIA_PLANS": ""}).plans is True

    for text, share in [("0.01", 0.01), (" 1 ", 1.0), ("yes", 1.0), ("off", 0.0), ("", 0.0)]:
        assert Settings({"ALTHAIA_COMPARE": text}).compare == share
    given = {"ALTHAIA_PATCHH": "1", "ALTHAIA_IMAGE": "5", "ALTHAIA_PURE_BUILD": "1", "PATH": ""}
    assert Settings(given).unknown == ("ALTHAIA_IMAGE", "ALTHAIA_PATCHH")


@pytest.mark.parametrize("text", ["2", "-0.5", "nan", "some"])
@pytest.mark.parametrize("name", ["COMPARE", "PLANS"])
def test_a_bad_value_is_named(name, text):
    with pytest.raises(ConfigError, match=rf"ALTHAIA_{name} is '{text}', .*unset it"):
        Settings({f"ALTHAIA_{name}": text})


@pytest.mark.parametrize("name", ["LOG", "NOTES"])
def test_a_bad_value_of_what_only_says_something_leaves_the_redirect_on(name, tmp_path):
    env = {"ALTHAIA_PATCH": "1", f"ALTHAIA_{name}": "debug"}
    done = run("-c", CHECK, cwd=tmp_path, env=env)
    assert (done.stdout.strip(), done.stderr) == ("ours", "")
    assert getattr(Settings(env), name.lower()) is True


@pytest.mark.parametrize("words", ["", "DISABLE=1", "DISABLE=0"])
@pytest.mark.parametrize("patch", ["", "0", "1", "yes"])
def test_start_up(patch, words, tmp_path):
    env = {"ALTHAIA_PATCH": patch}
    env |= {"ALTHAIA_DISABLE": words[-1]} if words else {}
    expected = "ours" if patch in ("1", "yes") and words != "DISABLE=1" else "real"
    assert succeed("-c", CHECK, cwd=tmp_path, env=env).strip() == expected


def test_disable_wins(program, tmp_path):
    env = {"ALTHAIA_DISABLE": "1", "ALTHAIA_PATCH": "1", "ALTHAIA_REQUIRE_COMPILED": "1"}
    assert succeed("-m", "althaia", "-c", CHECK, cwd=tmp_path, env=env).strip() == "real"
    program(
        """
        import sys, althaia.switch
        before = list(sys.meta_path)
        assert althaia.patch() is False and not althaia.is_patched()
        assert althaia.patch(force=True) is False
        assert sys.meta_path == before
        """,
        env=env,
    )


def test_start_up_costs_nothing_when_not_asked_for(tmp_path):
    code = "import sys; print([name for name in sys.modules if 'althaia' in name])"
    assert succeed("-c", code, cwd=tmp_path).strip() == "[]"
    line = (ROOT / "althaia_startup.pth").read_text("utf-8")
    assert line.startswith('import os; os.environ.get("ALTHAIA_PATCH") and ')
    assert line.count("\n") == 1
    # Any Python that knows start files would import what one names at each start.
    assert not (ROOT / "althaia_startup.start").exists()


OPTIONS = ["-W error", "-O", "-OO", "-I", "-E", "-B", "-X dev", "-bb", "-P"]


@pytest.mark.parametrize("options", [*OPTIONS, "-W error -X dev -X importtime"])
@pytest.mark.parametrize("way", WAYS_IN)
def test_with_the_interpreters_options(options, way, tmp_path):
    words = {
        "patch()": ["-c", f"import althaia; althaia.patch()\n{CHECK}"],
        "runner": ["-m", "althaia", "-c", CHECK],
        "environment": ["-c", CHECK],
    }[way]
    env = {"ALTHAIA_PATCH": "1"} if way == "environment" else {}
    # These do not obey variables.
    obeys = way != "environment" or options not in ("-I", "-E")
    assert succeed(*options.split(), *words, cwd=tmp_path, env=env).strip() == (
        "ours" if obeys else "real"
    )


def test_an_isolated_interpreter_says_that_it_does_not_obey(tmp_path):
    done = run("-I", "-m", "althaia", "doctor", cwd=tmp_path, env={"ALTHAIA_PATCH": "1"})
    assert "off: python -I and -E do not obey ALTHAIA_PATCH" in done.stdout


def test_without_site_packages_processing(tmp_path):
    folders = [str(ROOT), str(SITE)]
    code = f"import sys; sys.path[:0] = {folders!r}\nimport althaia; althaia.patch()\n{CHECK}"
    assert succeed("-S", "-c", code, cwd=tmp_path).strip() == "ours"


def test_from_an_archive(tmp_path):
    archive = tmp_path / "bundle.zip"
    with zipfile.ZipFile(archive, "w") as bundle:
        for path in (ROOT / "althaia").rglob("*.py"):
            bundle.write(path, path.relative_to(ROOT))
        for pattern in ("marshmallow/py.typed", "_build_info.json", "releases/**/*"):
            for path in (ROOT / "althaia").glob(pattern):
                if path.suffix != ".py":
                    bundle.write(path, path.relative_to(ROOT))
        for path in (ROOT / "patches").glob("*"):  # A wheel has the queue there.
            bundle.write(path, f"althaia/releases/patches/{path.name}")
    code = f"""
        import sys
        sys.path.insert(0, {str(archive)!r})
        import importlib, importlib.resources, importlib.util
        import althaia
        assert {str(archive)!r} in althaia.__file__
        althaia.patch()
        import marshmallow
        from marshmallow.experimental.context import Context
        # A pure build serves the installed files.
        assert ({str(archive)!r} in marshmallow.__file__) is {HAS_ENGINE}
        assert marshmallow.Schema.__module__ == "marshmallow.schema"
        assert importlib.resources.files("marshmallow").joinpath("py.typed").is_file()
        assert importlib.util.find_spec("marshmallow.nope") is None
        assert importlib.reload(marshmallow.utils) is marshmallow.utils
        assert marshmallow.Schema.from_dict({{"x": marshmallow.fields.Int()}})().load({{"x": 1}})
        import inspect
        assert inspect.getsource(marshmallow.Schema).startswith("class Schema")
        assert "archive" in althaia.info().plans, althaia.info().plans
        assert althaia.info().upstream == {"4.4.0" if HAS_ENGINE else None!r}
        """
    succeed("-c", dedent(code), cwd=tmp_path)


REQUIRED = {"ALTHAIA_REQUIRE_COMPILED": "1"}


@pytest.mark.parametrize("imported", ["althaia", "althaia.marshmallow", "althaia.switch.redirect"])
def test_an_uncompiled_import_is_an_error_if_compiled_ones_are_required(imported, tmp_path):
    only = shutil.ignore_patterns("__pycache__", "*.so", "*.pyd", "*.pyx", "*.pxd", "*.h")
    shutil.copytree(ROOT / "althaia", tmp_path / "althaia", ignore=only)
    code = f"import sys; sys.path.insert(0, '')\nimport {imported}"
    done = run("-c", code, cwd=tmp_path, env=REQUIRED)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    said = "althaia.switch.status.NotCompiledError: ALTHAIA_REQUIRE_COMPILED is set"
    assert last.startswith(said)
    assert ("althaia.marshmallow.schema" if HAS_ENGINE else "althaia.engine.door") in last
    assert succeed("-c", code, cwd=tmp_path) == ""
    (tmp_path / "althaia" / "_build_info.json").unlink()
    assert "(never built)" in run("-c", code, cwd=tmp_path, env=REQUIRED).stderr


def test_a_compiled_import_is_none_and_a_bad_value_named(tmp_path):
    code = "import althaia; althaia.patch(); import marshmallow"
    done = run("-c", code, cwd=tmp_path, env=REQUIRED)
    assert (done.returncode == 0) is althaia.info().compiled, done.stderr
    done = run("-c", "import althaia", cwd=tmp_path, env={"ALTHAIA_REQUIRE_COMPILED": "2"})
    assert "ALTHAIA_REQUIRE_COMPILED is '2'" in done.stderr


def test_a_program_without_an_environment(tmp_path):
    """The start-up line survives what it finds: here, next to nothing."""
    kept = {k: v for k, v in environment().items() if k in ("SYSTEMROOT", "LD_LIBRARY_PATH")}
    done = subprocess.run(
        [sys.executable, "-c", CHECK], env=kept, cwd=tmp_path, capture_output=True, text=True
    )
    assert (done.stdout.strip(), done.stderr) == ("real", "")


@pytest.mark.parametrize(
    ("words", "variable", "told"),
    [
        (("-S",), "1", "<string>:1: RuntimeWarning: "),
        (("-S", "-W", "error"), "1", "RuntimeWarning: "),
        (("-S",), "0", ""),
        (("-S",), "", ""),
        (("-S", "-m", "althaia"), "1", ""),
        ((), "1", ""),
    ],
)
def test_a_variable_without_effect_is_told(tmp_path, words, variable, told):
    # As in a layer of AWS Lambda: althaia is found on the path, its start-up file is not run.
    env = {"ALTHAIA_PATCH": variable, "PYTHONPATH": os.pathsep.join([str(ROOT), str(SITE)])}
    code = "import althaia, marshmallow; print(althaia.is_patched())"
    done = run(*words, "-c", code, cwd=tmp_path, env=env)
    assert done.returncode == 0, done.stderr
    warned = "ALTHAIA_PATCH is set and has no effect"
    assert done.stderr.startswith(told + warned) if told else warned not in done.stderr
