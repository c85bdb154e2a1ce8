"""``python -m althaia PROGRAM`` against ``python PROGRAM``: nothing may differ but the library."""

import os
import re
import signal
import zipfile
from pathlib import Path

import pytest

from tests.interpreters import words_of_cpython
from tests.redirect.processes import IS_OURS

SEEN = """
import json, sys
has = globals().get
print(json.dumps([sys.argv, sys.path, sorted(globals()), __name__, has("__file__"),
                  has("__cached__"), __spec__ and __spec__.name, __package__, __doc__,
                  type(__loader__).__name__, getattr(__loader__, "__name__", None),
                  __builtins__.__name__,
                  sys.modules["__main__"].__dict__ is globals()]))
"""
FAILING = """\
def inner():
    raise ValueError("inside")

def outer():
    try:
        inner()
    except ValueError as error:
        raise RuntimeError("outside") from error

outer()
"""


# What is kept for a debugger has no frames of ours either.
DEBUGGER = """\
import atexit, sys, traceback
atexit.register(lambda: print(*traceback.format_tb(sys.last_traceback)))
1/0
"""


def outcome(done):
    """What a process shows to the world, without object addresses.

    Since 3.13 Python itself shows the lines of '-c' in a traceback.
    """
    address, lines = r"0x[0-9a-f]+", r'(?<=  File "<string>", )(.*\n)(?:(?:  \| )?    .*\n)+'
    texts = (re.sub(address, "0x", text) for text in (done.stdout, done.stderr))
    return done.returncode, *(re.sub(lines, r"\1", text) for text in texts)


def same(run, *words, **options):
    """Run a program both ways, insist that nothing differs, and return what it did."""
    python = run(*words, **options)
    ours = run("-m", "althaia", *words, **options)
    assert outcome(ours) == outcome(python)
    explicit = run("-m", "althaia", "run", *words, **options)
    assert outcome(explicit) == outcome(python)
    return python


@pytest.fixture
def folder(tmp_path):
    files = {
        "scripts/neighbour.py": "value = 1\n",
        "scripts/show.py": SEEN,
        "script.py": SEEN,
        "info": "print('a script with the name of a command')\n",
        "package/__init__.py": "",
        "package/show.py": SEEN,
        "package/__main__.py": SEEN,
        "package/fail.py": FAILING,
        "folder/__main__.py": SEEN,
        "fail.py": FAILING,
        "syntax.py": "x = 1\ny = (\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    with zipfile.ZipFile(tmp_path / "archive.pyz", "w") as archive:
        archive.writestr("__main__.py", SEEN)
    (tmp_path / "latin.py").write_bytes(b"# -*- coding: latin-1 -*-\nprint(ascii('\xe9'))\n")
    (tmp_path / "bom.py").write_bytes(b"\xef\xbb\xbfprint('after the mark')\n")
    return tmp_path


@pytest.mark.parametrize(
    "words",
    [
        ["script.py"],
        ["./script.py", "a", "-b", "--json", ""],
        ["scripts/show.py", "-m", "x"],
        ["scripts/../script.py"],
        ["-c", SEEN],
        ["-c", SEEN, "a", "-c", "b"],
        [f"-c{SEEN}", "a"],
        ["-m", "package", "a"],
        ["-m", "package.show", "--help", "a"],
        ["-mpackage.show"],
        ["folder", "a"],
        ["archive.pyz", "a", "b"],
        ["latin.py"],
        ["bom.py"],
        ["-m", "json.tool", "--help"],
    ],
    ids=lambda words: " ".join(words)[:24].strip(),
)
@pytest.mark.parametrize("options", [(), ("-P",), ("-I",)], ids=" ".join)
def test_what_the_program_sees(run, folder, words, options):
    python = run(*options, *words)
    ours = run(*options, "-m", "althaia", *words)
    assert outcome(ours) == outcome(python)
    if not options:
        # A failure both ways would hide differences. With options Python finds no packages there.
        assert python.returncode == 0, python.stderr


def test_absolute_and_linked_scripts(run, folder):
    link = folder / "scripts" / "link.py"
    link.symlink_to(folder / "script.py")
    for script in (folder / "script.py", link, Path("scripts/link.py")):
        assert same(run, str(script), "a").returncode == 0


def test_a_program_on_standard_input(run):
    code = "import sys, json\nprint(json.dumps([sys.argv, sys.path[0], __name__]))\n"
    same(run, "-", "a", stdin=code)
    assert same(run, "-", stdin="1/0\n").returncode == 1


@pytest.mark.parametrize(
    "words",
    [
        ["fail.py"],
        ["-m", "package.fail"],
        ["-c", FAILING],
        ["-c", "1/0"],
        ["-c", "import nope"],
        ["syntax.py"],
        ["-c", "x = ("],
        ["scripts"],
        ["-m", "missing"],
        ["-m", "package.missing"],
        ["-m", "missing.module"],
        ["-m", "scripts"],
        ["-c", "raise SystemExit('said')"],
        ["-c", "raise SystemExit(7)"],
        ["-c", "raise SystemExit"],
        ["-c", "import sys; sys.exit((1, 2))"],
        ["-c", "import os; os._exit(9)"],
        ["-c", "raise KeyboardInterrupt"],
        ["-c", "raise BaseException('b')"],
        ["-c", "raise ExceptionGroup('g', [ValueError(1), TypeError(2)])"],
        ["-c", "import atexit; atexit.register(print, 'bye'); 1/0"],
        ["-c", DEBUGGER],
        ["-c", "import sys; sys.excepthook = lambda *a: print(a[0], a[2].tb_frame.f_code); 1/0"],
        ["-c", "import threading; t = threading.Thread(target=lambda: 1/0, name='t'); t.start()"],
        ["-c", "import os, signal; os.kill(os.getpid(), signal.SIGTERM)"],
        ["-c", "import warnings; warnings.warn('w')"],
        ["-c", "import logging; logging.exception('no', exc_info=True)"],
    ],
    ids=lambda words: " ".join(words)[:40].replace("\n", " "),
)
def test_how_the_program_ends(run, folder, words):
    same(run, *words)


@pytest.mark.skipif(os.name != "posix", reason="processes are interrupted by signals on POSIX only")
def test_an_interrupted_program_dies_of_the_signal(run):
    # A shell starts background programs with the signal ignored.
    code = (
        "import os, signal, time; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "os.kill(os.getpid(), signal.SIGINT); time.sleep(5)"
    )
    assert same(run, "-c", code).returncode == -signal.SIGINT


@pytest.mark.parametrize(
    "code",
    ["x = 6", pytest.param("x = 6; 1/0", marks=words_of_cpython), "x = 6; raise SystemExit(3)"],
)
def test_the_prompt_after_the_program(run, code):
    """``python -i`` goes on in the program's namespace."""
    ask = "print(x * 7, sorted(globals()))\n"
    python = run("-i", "-c", code, stdin=ask)
    ours = run("-i", "-m", "althaia", "-c", code, stdin=ask)
    assert "42" in python.stdout
    assert outcome(ours) == outcome(python)


def test_the_program_runs_our_copy(run, folder):
    check = f"import marshmallow, sys; print({IS_OURS})"
    (folder / "check.py").write_text(check)
    for words in (["check.py"], ["-m", "check"], ["-c", check]):
        done = run("-m", "althaia", *words)
        assert done.stdout.strip() == "True", done.stderr
    # The runner loads nothing that the program does not need.
    code = "import sys; print({'argparse', 'typing', 'rich', 'json'} & {*sys.modules})"
    assert run("-m", "althaia", "-c", code).stdout.strip() == "set()"


def test_a_script_with_the_name_of_a_command(run, folder):
    assert "built from" in run("-m", "althaia", "info").stdout
    assert "name of a command" in run("-m", "althaia", "run", "info").stdout
    assert "name of a command" in run("-m", "althaia", "./info").stdout


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["-c"], "argument expected for the -c option"),
        (["-m"], "argument expected for the -m option"),
        (["run"], "nothing to run"),
        (["-X", "dev"], "unknown option -X: options of Python itself go before"),
        (["--json", "info"], "unknown option --json: options of Python"),
        (["missing.py"], "can't open the script: [Errno 2] "),
        (["missing/script.py"], "can't open the script: [Errno 2] "),
    ],
)
def test_a_command_line_that_means_nothing(run, words, text):
    done = run("-m", "althaia", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert text in done.stderr
    assert not words[0].startswith("missing") or f"{words[0]}'\n" in done.stderr


def test_help(run):
    shown = run("-m", "althaia", "--help")
    assert shown.returncode == 0
    for word in ("SCRIPT", "-m MODULE", "-c CODE", "explain", "info"):
        assert word in shown.stdout
    bare = run("-m", "althaia")
    assert (bare.returncode, bare.stdout, bare.stderr) == (2, "", shown.stdout)
    assert run("-m", "althaia", "--version").stdout.startswith("althaia 5.")
    assert "usage: python -m althaia info" in run("-m", "althaia", "info", "--help").stdout
    done = run("-m", "althaia", "run", "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Runs a program as Python itself would" in done.stdout


def test_too_late_is_told_without_our_frames(run, folder):
    (folder / "sitecustomize.py").write_text("import marshmallow\n")
    done = run("-m", "althaia", "-c", "print('ran')", env={"PYTHONPATH": str(folder)})
    assert (done.returncode, done.stdout) == (1, "")
    assert "marshmallow was imported before" in done.stderr
    assert "Traceback" not in done.stderr


def test_disabled_it_only_runs_the_program(run):
    code = f"import marshmallow, os, sys; print({IS_OURS}, os.environ.get('X'))"
    done = run("-m", "althaia", "-c", code, env={"ALTHAIA_DISABLE": "1", "X": "1"})
    assert done.stdout.split() == ["False", "1"]
