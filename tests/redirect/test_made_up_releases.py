"""Releases that nobody has read: no wrong answer, and a word about what is not planned."""

import ast
import json
import os
import shutil
from textwrap import dedent

import pytest

from tests import releases
from tests.engine import HAS_ENGINE, NEEDS_ENGINE
from tests.redirect.processes import APPLICATION, IS_OURS, PATCH, compare, run, serving, succeed


def edit(folder, file, *changes):
    path = folder / "marshmallow" / file
    text = path.read_text("utf-8")
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    path.write_text(text, "utf-8")


POINT = '''

class Point(Field[tuple]):
    """Two numbers as one text."""

    def _serialize(self, value, attr, obj, **kwargs):
        return None if value is None else f"{value[0]},{value[1]}"

    def _deserialize(self, value, attr, data, **kwargs):
        return tuple(map(int, value.split(",")))
'''


def next_release(folder):
    """4.5.0: a method with another name, another that does more, a new field, a moved function."""
    releases.install(folder, releases.SERVED, label="4.5.0")
    edit(folder, "schema.py", ("_do_load", "_load_data"))
    package = folder / "marshmallow"
    text = (package / "utils.py").read_text("utf-8")
    head, after = text[: text.index("def ")], text.index("def _get_value_for_key(")
    start, end = text.index("def get_value("), text.find("\ndef ", after)
    moved, rest = text[start:end], text[end:] if end > 0 else ""
    (package / "_access.py").write_text(f"{head}\n\n{moved}", "utf-8")
    left = f"{text[:start]}from marshmallow._access import get_value\n\n{rest}"
    (package / "utils.py").write_text(left, "utf-8")
    text = (package / "fields.py").read_text("utf-8")
    body = text.index("        if", text.index("def _validated(self", text.index("class Integer(")))
    more = "        if value == 13:\n            return -13\n"
    (package / "fields.py").write_text(text[:body] + more + text[body:] + POINT, "utf-8")


@pytest.fixture
def newest(tmp_path):
    next_release(tmp_path / "site")
    return serving(tmp_path / "site")


def test_a_release_of_tomorrow_answers_as_it_does(newest, tmp_path):
    told = compare(newest, tmp_path)
    assert "-13" in succeed("-c", dedent(APPLICATION), cwd=tmp_path, env=newest)
    if HAS_ENGINE:
        assert told.count("AlthaiaWarning") == 1
        assert "does not plan all of marshmallow 4.5.0" in told


WARNINGS_ARE_ERRORS = "import althaia; althaia.patch(); import marshmallow; print('imported')"


@NEEDS_ENGINE
def test_what_is_told_ends_nothing_where_warnings_are_errors(newest, tmp_path):
    done = run("-W", "error", "-c", WARNINGS_ARE_ERRORS, cwd=tmp_path, env=newest)
    assert (done.returncode, done.stdout) == (0, "imported\n"), done.stderr
    assert done.stderr.startswith("AlthaiaWarning: althaia does not plan all of marshmallow 4.5.0")
    # Unread functions alone are told by the logger.
    fields = releases.install(tmp_path / "4.3.1", "4.3.1") / "marshmallow" / "fields.py"
    fields.write_text(f"{fields.read_text('utf-8')}\nMADE_UP = 1\n", "utf-8")
    code = f"import logging; logging.basicConfig(level=20)\n{WARNINGS_ARE_ERRORS}"
    words = ("-W", "error:althaia", "-W", "error:::althaia", "-c", code)
    done = run(*words, cwd=tmp_path, env=serving(tmp_path / "4.3.1"))
    assert (done.returncode, done.stdout) == (0, "imported\n"), done.stderr
    assert done.stderr.count("INFO:althaia:althaia does not plan all of marshmallow 4.3.1") == 1


@NEEDS_ENGINE
def test_no_hook_asks_where_nothing_can_be_planned(tmp_path):
    """A release in which nobody has read a function: a statement more in each does nothing."""
    releases.install(tmp_path / "site", releases.SERVED, label="4.5.0")
    for path in (tmp_path / "site" / "marshmallow").glob("*.py"):
        lines = path.read_text("utf-8").splitlines(keepends=True)
        nodes = ast.walk(ast.parse("".join(lines)))
        last = [node.body[-1] for node in nodes if isinstance(node, ast.FunctionDef)]
        for row, column in sorted({(n.lineno - 1, n.col_offset) for n in last}, reverse=True):
            if lines[row][:column].isspace():
                lines.insert(row, " " * column + "...\n")
        path.write_text("".join(lines), "utf-8")
    env = serving(tmp_path / "site")
    compare(env, tmp_path)
    code = """
        from marshmallow import Schema
        methods = "dump", "dumps", "_serialize", "load", "loads", "validate", "_deserialize"
        print([name for name in methods if "_seam" in getattr(Schema, name).__code__.co_names])
    """
    assert run_patched(code, tmp_path, env) == "[]\n"


@NEEDS_ENGINE
def test_what_is_not_planned_is_named(newest, tmp_path):
    shown = json.loads(succeed("-m", "althaia", "info", "--json", cwd=tmp_path, env=newest))
    unknown = shown["served"]["unknown"]
    assert "fields.Integer._validated" in unknown
    assert "utils.get_value" in unknown
    assert "schema.Schema._do_load" in unknown
    code = """
        from marshmallow import Schema, fields
        print(althaia.explain(Schema.from_dict({"a": fields.Int(), "at": fields.Point()})()))
    """
    text = run_patched(code, tmp_path, {**newest, "PYTHONWARNINGS": "ignore"})
    assert "this release's schema.Schema._do_load is another one" in text


VALIDATE = """
    from marshmallow import Schema, fields
    print(Schema.from_dict({"a": fields.Int()})().validate({"a": "x"}))
"""


def test_an_edited_file_under_the_label_of_the_compiled_one(tmp_path):
    """The label decides, as pip's does; the choice of the interpreted form serves the edit."""
    releases.install(tmp_path / "site", releases.SERVED)
    edit(tmp_path / "site", "fields.py", ("Not a valid integer.", "No integer."))
    compare({**serving(tmp_path / "site"), "ALTHAIA_COMPILED": "0"}, tmp_path, VALIDATE)


@pytest.mark.slow
@NEEDS_ENGINE
def test_an_upgrade_in_place_is_noticed(tmp_path):
    site = tmp_path / "site"
    code = f"""
        import sys, marshmallow, marshmallow.schema
        print({IS_OURS}, althaia.info().served.version, althaia.info().served.how)
    """
    for version, how in (("4.3.1", "interpreted"), ("4.3.0", "interpreted"), ("4.4.0", "compiled")):
        shutil.rmtree(site / "marshmallow", ignore_errors=True)
        for folder in site.glob("*.dist-info"):
            shutil.rmtree(folder)
        releases.install(site, version)
        env = {"PYTHONPATH": str(site)}
        for _ in range(2):
            assert run_patched(code, tmp_path, env).split() == ["True", version, how]
        compare(env, tmp_path)


def test_a_cache_of_the_release_before_is_not_executed(tmp_path):
    """The sizes and times are the same, as unpacked archives have them."""
    site = releases.install(tmp_path / "site", "4.3.1")
    env = {"PYTHONPATH": str(site)}
    path = site / "marshmallow" / "fields.py"
    times = path.stat()
    assert "Not a valid integer." in run_patched(VALIDATE, tmp_path, env)
    edit(site, "fields.py", ("Not a valid integer.", "Now a valid integer!"))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert "Now a valid integer!" in run_patched(VALIDATE, tmp_path, env)


def run_patched(code, cwd, env):
    return succeed("-c", PATCH + dedent(code), cwd=cwd, env=env)


def test_an_editable_install(tmp_path):
    """The sources lie in a checkout, and the metadata say so elsewhere."""
    site = tmp_path / "site"
    releases.install(site, "4.3.1")
    (site / "marshmallow").rename(tmp_path / "marshmallow")
    (site / "__editable__.marshmallow.pth").write_text(f"{tmp_path}\n", "utf-8")
    first = f"import site, sys; site.addsitedir({str(site)!r}); sys.path[:0] = [{str(tmp_path)!r}]"
    told = compare({}, tmp_path, f"{first}\n{dedent(APPLICATION)}")
    assert "Traceback" not in told


def test_the_first_of_two_on_the_path_is_served(tmp_path):
    for version in ("4.3.1", "3.26.2"):
        releases.install(tmp_path / version, version)
    env = {"PYTHONPATH": os.pathsep.join([str(tmp_path / "3.26.2"), str(tmp_path / "4.3.1")])}
    shown = json.loads(succeed("-m", "althaia", "info", "--json", cwd=tmp_path, env=env))
    assert shown["served"]["version"] == "3.26.2"
    compare(env, tmp_path)


def test_a_vendored_copy_is_none_of_ours(tmp_path):
    """A copy under another package's name is imported as it is, beside the one that we serve."""
    (tmp_path / "app").mkdir()
    vendor = releases.install(tmp_path / "app" / "vendor", "3.26.2")
    for path in vendor.rglob("*.py"):
        text = path.read_text("utf-8").replace("from marshmallow", "from app.vendor.marshmallow")
        path.write_text(text, "utf-8")
    code = f"""
        import sys, marshmallow
        assert {IS_OURS}
        import app.vendor.marshmallow as vendored
        assert vendored.__file__.startswith({str(vendor)!r}), vendored.__file__
        print(vendored.__name__)
    """
    assert run_patched(code, tmp_path, {}).strip() == "app.vendor.marshmallow"
