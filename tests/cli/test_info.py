"""``althaia.info()`` and ``python -m althaia info``."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import pytest

import althaia
from althaia.switch import status
from tests.engine import HAS_ENGINE, NEEDS_ENGINE

ROOT = Path(althaia.__file__).parent.parent


@pytest.fixture
def copied(tmp_path):
    """A folder with a copy of the package, to change."""
    shutil.copytree(
        ROOT / "althaia", tmp_path / "althaia", ignore=shutil.ignore_patterns("__pycache__")
    )
    if (queue := ROOT / "patches").is_dir():  # A wheel has it in althaia.
        shutil.copytree(queue, tmp_path / "patches")
    return tmp_path


def real_file():
    """Where the installed distribution says that marshmallow's files are."""
    return Path(str(metadata.distribution("marshmallow").locate_file("marshmallow/__init__.py")))


def show(run, **options):
    done = run("-m", "althaia", "info", "--json", **options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_what_it_says(run):
    shown = show(run)
    assert shown["version"] == metadata.version("althaia") == althaia.__version__
    assert shown["upstream"] == ("4.4.0" if HAS_ENGINE else None)
    assert shown["python"].endswith(sys.version.split()[0])
    assert shown["patched"] is False
    assert shown["how"] is None
    assert shown["real"]["version"] == metadata.version("marshmallow")
    assert Path(shown["real"]["location"]).samefile(real_file())
    assert shown["stale"] == []
    assert shown["settings"]["plans"] is True
    compiled = "althaia.marshmallow.schema" if HAS_ENGINE else "althaia.engine.door"
    assert compiled in shown["modules"]
    assert set(shown["modules"].values()) == {"compiled" if shown["compiled"] else "interpreted"}
    assert "interpreter" not in shown
    patched = show(run, env={"ALTHAIA_PATCH": "1"})
    assert patched == shown | {
        "patched": True,
        "how": "ALTHAIA_PATCH",
        "settings": patched["settings"],
    }
    text = run("-m", "althaia", "info").stdout
    for fact in (shown["version"], shown["real"]["location"], "marshmallow 4.4.0"):
        assert fact in text


def test_what_it_says_of_modules_and_interpreter(run):
    shown = json.loads(run("-m", "althaia", "info", "--json", "--verbose").stdout)
    facts = shown["interpreter"]
    assert facts == status.interpreter_features()
    text = run("-m", "althaia", "info", "--verbose").stdout
    assert "this interpreter" in text
    for module in shown["modules"]:
        assert module in text
    for name, holds in facts.items():
        assert f"  {name:<36}{'yes' if holds else 'no'}\n" in text


def test_the_text_lists_only_modules_that_are_not_as_they_should_be():
    def text_of(*states):
        modules = {f"m{n}": state for n, state in enumerate(states)}
        return replace(althaia.info(), modules=modules).as_text()

    good, stale, interpreted = status.COMPILED, status.STALE, status.INTERPRETED
    assert "2 of 2 modules" in text_of(good, good)
    assert "m0" not in text_of(good, good)
    assert text_of(good, stale).splitlines()[-2:] == [
        "modules",
        "  m1  compiled, but its source has changed since",
    ]
    assert text_of(good, interpreted).splitlines()[-1] == "  m1  interpreted"
    # A pure build says so in one line.
    assert "m0" not in text_of(interpreted, interpreted)


HOW = "import althaia; print(althaia.info().how)"
PATCHED = HOW.replace(";", "; althaia.patch();")


@pytest.mark.parametrize(
    ("words", "asked", "how"),
    [
        (["-c", PATCHED], "", "althaia.patch()"),
        (["-m", "althaia", "-c", HOW], "", "python -m althaia"),
        (["-c", HOW], "1", "ALTHAIA_PATCH"),
        (["-c", PATCHED], "1", "ALTHAIA_PATCH"),
        (["-c", HOW], "", "None"),
    ],
)
def test_how_it_was_patched(run, words, asked, how):
    done = run(*words, env={"ALTHAIA_PATCH": asked})
    assert done.stdout.strip() == how, done.stderr


def test_it_imports_neither_library(run):
    code = (
        "import althaia, sys; althaia.info(); "
        "print([n for n in sys.modules if 'marshmallow' in n or n.startswith('althaia.plans')])"
    )
    assert run("-c", code).stdout.strip() == "[]"


@NEEDS_ENGINE
def test_an_edited_source_is_stale_and_a_module_without_binary_interpreted(run, copied):
    source = copied / "althaia" / "marshmallow" / "validate.py"
    source.write_text(source.read_text("utf-8") + "\nEDITED = True\n", "utf-8")
    for binary in [*copied.rglob("class_registry.*.so"), *copied.rglob("class_registry.*.pyd")]:
        binary.unlink()
    shown = show(run, cwd=copied)
    assert shown["stale"] == ["althaia.marshmallow.validate"]
    assert shown["modules"]["althaia.marshmallow.class_registry"] == "interpreted"
    assert shown["compiled"] is False
    assert "its source has changed since" in run("-m", "althaia", "info", cwd=copied).stdout


@pytest.mark.parametrize("words", [[], ["--help"], ["--version"]])
def test_a_tree_that_is_not_installed(run, copied, words):
    """As after ``make demo``. Without site-packages there are no metadata of althaia either."""
    done = run("-S", "-m", "althaia", *words, cwd=copied)
    assert (done.returncode, "Traceback" in done.stderr) == (0 if words else 2, False)
    if words == ["--version"]:
        assert done.stdout.strip() == f"althaia {metadata.version('althaia')}"


def test_a_checkout_without_its_extension_modules(run, copied):
    """The folders of the engine's floors are there, and hold no modules for Python."""
    for binary in [*copied.rglob("*.so"), *copied.rglob("*.pyd")]:
        binary.unlink()
    assert show(run, cwd=copied)["plans"].startswith("none: this is a pure build")
    done = run("-m", "althaia", "info", "--verbose", cwd=copied)
    assert "this interpreter: nothing is asked of it without plans" in done.stdout
    code = "import althaia\nalthaia.patch()\nalthaia.compare(1.0)\nwith althaia.profile(): pass\n"
    done = run("-c", f"import sys; sys.path.insert(0, '')\n{code}", cwd=copied)
    assert done.returncode == 0, done.stderr
    done = run("-W", "error", "-m", "althaia", "-c", "import marshmallow.schema", cwd=copied)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_package_that_was_never_built(run, copied):
    (copied / "althaia" / "_build_info.json").unlink()
    shown = show(run, cwd=copied)
    assert shown["upstream"] is None
    assert shown["compiled"] is False
    assert "0 of 0 modules" in run("-m", "althaia", "info", cwd=copied).stdout


def test_a_bad_value_in_the_environment_is_named(run):
    done = run("-m", "althaia", "info", env={"ALTHAIA_PLANS": "maybe"})
    assert done.returncode == 2
    assert done.stderr.startswith("python -m althaia info: the environment variable ALTHAIA_PLANS")


def test_without_a_marshmallow_it_serves_none(run, tmp_path):
    (tmp_path / "blocked.py").write_text(
        "import sys\nsys.path[:] = [p for p in sys.path if 'site-packages' not in p]\n"
        f"sys.path.append({str(ROOT)!r})\nimport althaia\nprint(althaia.info().as_text())\n"
    )
    text = run("-S", "blocked.py").stdout
    assert "real marshmallow  not installed" in text
    assert "serves            nothing" in text


def test_unknown_variables_are_named(run):
    env = {"ALTHAIA_PATCHH": "1", "ALTHAIA_IMAGE": "5.1"}
    assert show(run, env=env)["unknown_variables"] == ["ALTHAIA_IMAGE", "ALTHAIA_PATCHH"]
    text = run("-m", "althaia", "info", env=env).stdout
    assert "ALTHAIA_IMAGE, ALTHAIA_PATCHH (did you mean ALTHAIA_PATCH?)" in text


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux only")
@pytest.mark.parametrize(
    "words", [["info"], ["--help"], ["check", "--help"], ["--version"], ["explain", "x:y"]]
)
def test_output_that_cannot_be_written(words, tmp_path):
    command = [sys.executable, "-m", "althaia", *words]
    with open("/dev/full", "w") as full:
        # argparse hides that an unbuffered output cannot be written.
        env = os.environ | {"PYTHONUNBUFFERED": ""}
        done = subprocess.run(command, env=env, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("python -m althaia")
    assert done.stderr.count("\n") == 1
    shown = " ".join(f"'{word}'" for word in command)
    closed = subprocess.run(f"{shown} >&-", shell=True, stderr=subprocess.PIPE, text=True)
    assert closed.returncode == (2 if "explain" in words else 0)
    assert "Traceback" not in closed.stderr


@pytest.mark.parametrize("name", ["json", pytest.param("msgpack", marks=NEEDS_ENGINE), "bulk"])
def test_a_module_is_there_when_somebody_asks(run, name):
    """``import althaia`` is enough to use its modules; none is loaded before."""
    code = f"import sys, althaia; print('althaia.{name}' in sys.modules, althaia.{name}.__name__)"
    assert run("-c", code).stdout.split() == ["False", f"althaia.{name}"]
    assert name in dir(althaia)
