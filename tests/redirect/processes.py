"""Run small programs in processes of their own, redirected in each of the possible ways."""

import os
import subprocess
import sys
from textwrap import dedent

WAYS_IN = ("patch()", "runner", "environment")

IS_OURS = "sys.modules.get('althaia.marshmallow') is marshmallow"
"""For programs: whether the marshmallow they imported is our copy. Modules are compared and
not paths: whoever cloned the project has both below a folder called ``althaia``."""


def environment(changes=None):
    """This process's environment without what switches the redirect on or off."""
    ours = ("PATCH", "DISABLE", "REQUIRE_COMPILED", "COMPARE", "NOTES", "LOG")
    names = {f"ALTHAIA_{name}" for name in ours}
    kept = {name: value for name, value in os.environ.items() if name not in names}
    return {**kept, **(changes or {})}


def run(*words, cwd, env=None, stdin=None, timeout=120, **options):
    """Run the interpreter of the tests with these words; whatever comes of it.

    :param stdin: a text, or an open file
    """
    given = {"input": stdin} if stdin is None or isinstance(stdin, str) else {"stdin": stdin}
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **given}
    return subprocess.run(
        [sys.executable, *words],
        cwd=cwd, env=environment(env), text=True, timeout=timeout, **streams | options,
    )  # fmt: skip


def succeed(*words, cwd, env=None, **options):
    """Run the interpreter, insist on exit code 0, and return what was printed."""
    done = run(*words, cwd=cwd, env=env, **options)
    assert done.returncode == 0, f"exit code {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def program(code, *, cwd, env=None):
    """Run a program that is not redirected, insist on exit code 0, return what it printed."""
    return succeed("-c", dedent(code), cwd=cwd, env=env)


def redirected(code, *, way, cwd, env=None):
    code = dedent(code)
    if way == "patch()":
        return succeed("-c", f"import althaia\nalthaia.patch()\n{code}", cwd=cwd, env=env)
    if way == "runner":
        return succeed("-m", "althaia", "-c", code, cwd=cwd, env=env)
    assert way == "environment"
    return succeed("-c", code, cwd=cwd, env={"ALTHAIA_PATCH": "1", **(env or {})})
