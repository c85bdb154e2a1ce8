"""``althaia.info()`` and ``python -m althaia info``."""

import json
import os
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


def show(run, *words, **options):
    done = run("-m", "althaia", "info", "--json", *words, **options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def text_of(run, *words, **options):
    return run("-m", "althaia", "info", *words, **options).stdout


def test_what_it_says(run):
    shown = show(run)
    assert shown["version"] == metadata.version("althaia") == althaia.__version__
    assert shown["upstream"] == ("4.4.0" if HAS_ENGINE else None)
    assert shown["python"].endswith(sys.version.split()[0])
    assert (shown["patched"], shown["how"], shown["stale"]) == (False, None, [])
    assert shown["real"]["version"] == metadata.version("marshmallow")
    file = metadata.distribution("marshmallow").locate_file("marshmallow/__init__.py")
    assert Path(shown["real"]["location"]).samefile(str(file))
    assert shown["settings"]["plans"] is True
    compiled = "althaia.marshmallow.schema" if HAS_ENGINE else "althaia.engine.door"
    assert compiled in shown["modules"]
    assert set(shown["modules"].values()) == {"compiled" if shown["compiled"] else "interpreted"}
    assert "interpreter" not in shown
    patched = show(run, env={"ALTHAIA_PATCH": "1"})
    of_patched = {"patched": True, "how": "ALTHAIA_PATCH", "settings": patched["settings"]}
    assert patched == shown | of_patched
    text = text_of(run)
    for fact in (shown["version"], shown["real"]["location"], "marshmallow 4.4.0"):
        assert fact in text
    facts = show(run, "--verbose")["interpreter"]
    assert facts == status.interpreter_features()
    text = text_of(run, "--verbose")
    assert "this interpreter" in text
    for module in shown["modules"]:
        assert module in text
    for name, holds in facts.items():
        assert f"  {name:<36}{'yes' if holds else 'no'}\n" in text


def test_the_text_lists_only_modules_that_are_not_as_they_should_be():
    def lines(*states):
        modules = {f"module-{n}": state for n, state in enumerate(states)}
        return replace(althaia.info(), modules=modules).as_text().splitlines()

    good, stale, interpreted = status.COMPILED, status.STALE, status.INTERPRETED
    assert "2 of 2 modules" in "\n".join(lines(good, good))
    assert "module-0" not in "\n".join(lines(good, good))
    assert lines(good, stale)[-2:] == [
        "modules",
        "  module-1  compiled, but its source has changed since",
    ]
    assert lines(good, interpreted)[-1] == "  module-1  interpreted"
    # A pure build says so in one line.
    assert "module-0" not in "\n".join(lines(interpreted, interpreted))


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
    assert (shown["stale"], shown["compiled"]) == (["althaia.marshmallow.validate"], False)
    assert shown["modules"]["althaia.marshmallow.class_registry"] == "interpreted"
    assert "its source has changed since" in text_of(run, cwd=copied)
    # A package that was never built.
    (copied / "althaia" / "_build_info.json").unlink()
    shown = show(run, cwd=copied)
    assert (shown["upstream"], shown["compiled"]) == (None, False)
    assert "0 of 0 modules" in text_of(run, cwd=copied)


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
    nothing = "this interpreter: nothing is asked of it without plans"
    assert nothing in text_of(run, "--verbose", cwd=copied)
    code = "import althaia\nalthaia.patch()\nalthaia.compare(1.0)\nwith althaia.profile(): pass\n"
    done = run("-c", f"import sys; sys.path.insert(0, '')\n{code}", cwd=copied)
    assert done.returncode == 0, done.stderr
    done = run("-W", "error", "-m", "althaia", "-c", "import marshmallow.schema", cwd=copied)
    assert (done.returncode, done.stderr) == (0, "")


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
    said = "ALTHAIA_IMAGE, ALTHAIA_PATCHH (did you mean ALTHAIA_PATCH?)"
    assert said in text_of(run, env=env)
    done = run("-m", "althaia", "info", env={"ALTHAIA_PLANS": "maybe"})
    assert done.returncode == 2
    assert done.stderr.startswith("python -m althaia info: the environment variable ALTHAIA_PLANS")


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
