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


APPLICATION = """
    import warnings
    from marshmallow import EXCLUDE, Schema, ValidationError, fields, post_load, validates

    class Inner(Schema):
        a = fields.Int(required=True)
        when = fields.DateTime()

    class Item(Schema):
        name = fields.Str()
        count = fields.Int()
        ratio = fields.Float(allow_none=True)
        inner = fields.Nested(Inner, unknown=EXCLUDE)
        inners = fields.List(fields.Nested(Inner))

        @validates("count")
        def check(self, value, **kwargs):
            if value == 4:
                raise ValidationError("four")

        @post_load
        def make(self, data, **kwargs):
            return {**data, "made": sorted(kwargs)}

    ROWS = [
        {"name": "a", "count": "2", "inner": {"a": 1, "z": 2}},
        {"name": 1, "count": 41, "ratio": None, "inners": [{"a": "x"}, 5]},
        {"count": 4, "unknown": 1},
        {"count": 13, "inner": {"a": 13, "when": "2020-01-02T03:04:05"}},
        {},
    ]
    if hasattr(fields, "Point"):
        Item = type("Item", (Item,), {"at": fields.Point()})
        ROWS.append({"at": "1,2"})
    for _ in range(12):
        schema = Item()
        print(schema.dump([{"name": 5, "count": "7", "at": (3, 4)}] * 20, many=True)[-1])
        for row in ROWS:
            for call in (schema.load, schema.validate, Item().load, Item().dump):
                try:
                    print(call(row))
                except (ValidationError, TypeError, ValueError, AttributeError) as error:
                    print(type(error), error)
"""
"""What an application does with several kinds of fields, well and badly."""

PATCH = "import althaia; althaia.patch()\n"


def serving(folder):
    """The environment in which a release that lies in a folder is the installed one."""
    # Before 3.20 fields have the order of a set.
    return {"PYTHONPATH": str(folder), "PYTHONHASHSEED": "1"}


def compare(env, cwd, code=APPLICATION):
    """The answers are the same; what the patched run wrote to its error stream."""
    code = dedent(code)
    real = succeed("-W", "ignore", "-c", code, cwd=cwd, env=env)
    code = f"{PATCH}{code}\nimport sys, marshmallow; assert {IS_OURS}"
    done = run("-W", "ignore:::marshmallow", "-c", code, cwd=cwd, env=env)
    assert (done.returncode, done.stdout) == (0, real), done.stderr
    return done.stderr
