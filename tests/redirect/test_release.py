"""The installed release is served, whichever it is, and nobody gets another one."""

import compileall
import json
import shutil
import sys
import zipfile
from pathlib import Path
from textwrap import dedent

import pytest

import althaia
from althaia.switch import installed
from tests import releases
from tests.engine import HAS_ENGINE, NEEDS_ENGINE
from tests.redirect import processes
from tests.redirect.processes import IS_OURS, compare, run, serving, succeed

ROOT = Path(althaia.__file__).parent.parent
CHECK = f"import marshmallow, sys; print('ours' if {IS_OURS} else 'real')"
OTHERS = ["3.26.2", pytest.param("4.0.1", marks=pytest.mark.slow), "4.3.1"]


@pytest.fixture
def install(tmp_path):
    """Installs a release before the one that is: its version -> the environment for it."""

    def make(version, label=None):
        site = releases.install(tmp_path / "site", version, label=label)
        return serving(site)

    return make


@pytest.mark.parametrize("required", ["", "1"])
@pytest.mark.parametrize(
    "version",
    [*OTHERS, *(pytest.param(each, marks=pytest.mark.slow) for each in releases.OF_THE_DAY)],
)
def test_the_installed_release_is_served(install, tmp_path, version, required):
    env = install(version)
    if HAS_ENGINE:
        env["ALTHAIA_REQUIRE_COMPILED"] = required
    assert compare(env, tmp_path) == ""


@NEEDS_ENGINE
@pytest.mark.parametrize("version", OTHERS)
def test_modules_are_the_installed_files_line_by_line(install, tmp_path, version):
    code = """
        import althaia, sys
        althaia.patch()
        import inspect, marshmallow.fields, marshmallow.schema
        folder = sys.argv[1]
        assert marshmallow.__file__.startswith(folder), marshmallow.__file__
        assert marshmallow.schema.__name__ == "marshmallow.schema"
        from althaia.marshmallow import Schema
        assert Schema is marshmallow.Schema is althaia.Schema
        assert Schema.__module__ == Schema.dump.__module__ == "marshmallow.schema"
        lines = open(marshmallow.schema.__file__).read().split("\\n")
        for function in (Schema.dump, Schema.__init__, Schema.loads, Schema._do_load):
            source, first = inspect.getsourcelines(function)
            assert "_seam" not in "".join(source)
            assert lines[first - 1] == source[0].rstrip("\\n")
            numbers = {n for *_, n in function.__code__.co_lines() if n is not None}
            assert numbers <= set(range(first, first + len(source))), function
            assert "_seam" in function.__code__.co_names
        try:
            Schema(only=3)
        except Exception as error:
            frame = error.__traceback__
            while frame.tb_next:
                frame = frame.tb_next
            assert "raise StringNotCollectionError" in lines[frame.tb_lineno - 1]
        class S(Schema):
            a = marshmallow.fields.Int()
        assert S(many=True).load([{"a": 1}] * 50) == [{"a": 1}] * 50
        assert althaia.stats()["__main__.S"]["load"]["calls"] == 1
    """
    env = install(version)
    succeed("-c", dedent(code), str(tmp_path / "site"), cwd=tmp_path, env=env)


def test_without_the_redirect_althaias_names_are_those_of_the_installed_release(install, tmp_path):
    code = """
        from althaia import Schema, fields
        import althaia.marshmallow.schema as ours, inspect, sys
        print(inspect.getfile(Schema), ours.Schema is Schema, "marshmallow" in sys.modules)
        import marshmallow
        assert marshmallow.Schema is not Schema
    """
    out = processes.program(code, cwd=tmp_path, env=install("4.3.1"))
    assert out.split() == [str(tmp_path / "site" / "marshmallow" / "schema.py"), "True", "False"]


@NEEDS_ENGINE
@pytest.mark.parametrize(
    ("switch", "env"), [("compiled=False", {}), ("", {"ALTHAIA_COMPILED": "0"})]
)
def test_the_served_release_itself_is_interpreted_on_demand(program, switch, env):
    program(
        f"""
        import althaia, inspect
        althaia.patch({switch})
        import marshmallow
        assert inspect.isfunction(marshmallow.Schema.dump), marshmallow.Schema.dump
        class S(marshmallow.Schema):
            a = marshmallow.fields.Int()
        assert S(many=True).dump([{{"a": 1}}] * 50) == [{{"a": 1}}] * 50
        assert althaia.stats()["__main__.S"]["dump"]["calls"] == 1
        """,
        env=env,
    )


@pytest.mark.parametrize("watch", ["setprofile", "settrace"])
def test_who_watches_calls_sees_how_instances_are_made(install, tmp_path, watch):
    """The calls are those of the real release, also for classes whose instances are lazy."""
    code = f"""
        import sys
        from marshmallow import Schema, fields
        class S(Schema):
            a = fields.Int()
        for _ in range(30):
            S().dump({{"a": 1}})
        seen = []
        sys.{watch}(lambda frame, event, argument: seen.append(frame.f_code.co_qualname))
        S()
        sys.{watch}(None)
        print(seen[0])
    """
    env = install("4.3.1")
    for options in ((), ("import althaia; althaia.patch()",)):
        out = succeed("-c", "\n".join((*options, dedent(code))), cwd=tmp_path, env=env)
        assert out.split() == ["Schema.__init__"]


def test_a_release_with_another_label_is_not_the_compiled_one(install, tmp_path):
    code = f"import althaia; althaia.patch(); {CHECK}; print(marshmallow.__file__)"
    env = install(releases.SERVED, "4.4.1")
    out = succeed("-c", code, cwd=tmp_path, env=env).splitlines()
    assert out == ["ours", str(tmp_path / "site" / "marshmallow" / "__init__.py")]


def test_info_says_what_is_served(install, tmp_path):
    def served(env):
        return json.loads(succeed("-m", "althaia", "info", "--json", cwd=tmp_path, env=env))[
            "served"
        ]

    env = install("4.3.1")
    shown = served(env)
    assert (shown["version"], shown["how"], shown["left_out"]) == ("4.3.1", "interpreted", [])
    assert shown["unknown"] == []
    text = succeed("-m", "althaia", "info", cwd=tmp_path, env=env)
    assert "marshmallow 4.3.1, installed files" in text
    shutil.rmtree(tmp_path / "site")
    env = install("3.26.2")
    for _ in range(2):  # The second run finds the code in the cache.
        older = served(env)
        # All functions of the release have been read.
        assert (older["version"], older["unknown"]) == ("3.26.2", [])
    ours, how = served(None), "compiled" if HAS_ENGINE else "interpreted"
    assert (ours["version"], ours["how"]) == (releases.SERVED, how)


def test_served_from_an_archive(install, tmp_path):
    zipfile.ZipFile(tmp_path / "empty.zip", "w").close()
    env = {"PYTHONPATH": str(tmp_path / "empty.zip")}
    assert succeed("-m", "althaia", "-c", CHECK, cwd=tmp_path, env=env).strip() == "ours"
    env = install("4.3.1")
    archive = shutil.make_archive(str(tmp_path / "deps"), "zip", env["PYTHONPATH"])
    code = f"import althaia; althaia.patch(); {CHECK}; print(marshmallow.__file__)"
    code += "; import inspect; assert '_seam' not in inspect.getsource(marshmallow.schema)"
    out = succeed("-c", code, cwd=tmp_path, env={**env, "PYTHONPATH": archive}).split()
    assert out[0] == "ours"
    assert out[1].startswith(archive)


def test_served_in_isolated_mode(install, tmp_path):
    """``python -I`` takes neither the environment nor the user's folder."""
    site = install("4.3.1")["PYTHONPATH"]
    first = f"import sys; sys.path[:0] = [{site!r}, {str(ROOT)!r}]; import althaia; althaia.patch()"
    out = succeed("-I", "-c", f"{first}; {CHECK}; print(marshmallow.__file__)", cwd=tmp_path)
    assert out.split() == ["ours", str(Path(site) / "marshmallow" / "__init__.py")]


def test_none_installed_is_an_error_unless_forced(tmp_path):
    # A pure build has no copy that it could serve.
    copied = releases.SERVED if HAS_ENGINE else ""
    code = f"""
        import sys
        sys.path.insert(0, {str(ROOT)!r})
        import althaia
        try:
            althaia.patch()
        except althaia.ReleaseError as error:
            assert "no marshmallow is installed" in str(error)
            assert error.served == {copied!r}
        else:
            raise AssertionError
        assert althaia.info().as_dict()["real"]["version"] is None
        althaia.patch(force=True)
        try:
            import marshmallow
            print(marshmallow.Schema.__module__)
        except ModuleNotFoundError as error:
            print(error.name, althaia.info().served.how)
    """
    out = succeed("-S", "-c", dedent(code), cwd=tmp_path).strip()
    assert out == ("marshmallow.schema" if HAS_ENGINE else "marshmallow untouched")


def test_one_that_is_too_old_is_an_error_and_runs_untouched_if_forced(install, tmp_path):
    code = """
        import althaia
        try:
            althaia.patch()
        except althaia.ReleaseError as error:
            print(error)
        althaia.patch(force=True)
        import marshmallow
        print(marshmallow.Schema.from_dict({})().dump(1), althaia.info().served.how)
    """
    done = run("-c", dedent(code), cwd=tmp_path, env=install("3.13.0", "3.12.2"))
    told, answer = done.stdout.splitlines()
    assert "marshmallow 3.12.2 is installed here, and althaia serves 3.13 and newer" in told
    assert answer == "{} untouched"
    assert done.stderr.count("AlthaiaWarning") == 1


def write(path, content):
    path.unlink(missing_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def metadata_of(folder):
    (found,) = folder.parent.glob("marshmallow-*.dist-info")
    return found


def bytecode_alone(folder):
    compileall.compile_dir(folder, quiet=2, legacy=True)
    for source in folder.rglob("*.py"):
        source.unlink()


def replaced_by(path, target):
    path.unlink()
    if target is None:
        path.mkdir()
    else:
        path.symlink_to(target)


def another_library(folder):
    """Leave one module of a few lines, as a stub or a fork has it."""
    shutil.rmtree(folder)
    folder.with_suffix(".py").write_text("class Schema:\n    pass\n")


MOVED = {
    "without a schema module": lambda p: (p / "schema.py").unlink(),
    "with a schema module that is no text": lambda p: write(p / "schema.py", b"\xff\xfe\x00"),
    "half written": lambda p: write(p / "schema.py", "def f(\n"),
    "without a place for the hooks": lambda p: write(p / "schema.py", "class Schema: pass\n"),
    "empty": lambda p: write(p / "__init__.py", ""),
    "a namespace package": lambda p: (p / "__init__.py").unlink(),
    "unreadable": lambda p: (p / "schema.py").chmod(0),
    "with a folder for the schema module": lambda p: replaced_by(p / "schema.py", None),
    "with a link to nowhere": lambda p: replaced_by(p / "schema.py", "nowhere.py"),
    "with fields half written": lambda p: write(p / "fields.py", "def f(\n"),
    "with fields that are no text": lambda p: write(p / "fields.py", b"\0\xff"),
    "with fields that are a link to nowhere": lambda p: replaced_by(p / "fields.py", "nowhere.py"),
    "without utils": lambda p: (p / "utils.py").unlink(),
    "cut off": lambda p: write(p / "schema.py", (p / "schema.py").read_bytes()[:20_000]),
    "of byte code alone": bytecode_alone,
    "without metadata": lambda p: shutil.rmtree(metadata_of(p)),
    "with metadata that are no text": lambda p: write(metadata_of(p) / "METADATA", b"\xff\xfe\0"),
    "with metadata of another name": lambda p: metadata_of(p).rename(p.with_name("f-9.dist-info")),
    "another library of that name": another_library,
}


@pytest.mark.parametrize("how", MOVED)
def test_what_is_none_of_ours_behaves_as_without_us(install, tmp_path, how):
    env = install("4.3.1")
    MOVED[how](tmp_path / "site" / "marshmallow")
    code = """
try:
    import marshmallow
    import marshmallow.schema
    print(sorted(n for n in dir(marshmallow) if n[0] != "_"), marshmallow.schema.Schema)
except BaseException as error:
    print(type(error), str(error)[:60])
"""
    real = succeed("-c", code, cwd=tmp_path, env=env)
    done = run("-c", f"import althaia; althaia.patch()\n{code}", cwd=tmp_path, env=env)
    assert (done.returncode, done.stdout) == (0, real), done.stderr
    assert "Traceback" not in done.stderr


DUMPED = "        serialized = self.dump(obj, many=many)"


@pytest.mark.parametrize(
    ("old", "new", "served", "told"),
    [
        ("BaseSchema = Schema", "BaseSchema=Schema", "real", "seam-loaded"),
        pytest.param(DUMPED, f"{DUMPED}  # mended", "ours", "seam-dumps", marks=NEEDS_ENGINE),
    ],
)
def test_a_hook_without_a_place_is_told_once(install, tmp_path, old, new, served, told):
    env = install("4.3.1")
    path = tmp_path / "site" / "marshmallow" / "schema.py"
    assert old in path.read_text("utf-8")
    path.write_text(path.read_text("utf-8").replace(old, new))
    code = f"import althaia; althaia.patch(); {CHECK}; print(marshmallow.Schema().dumps({{}}))"
    done = run("-c", code, cwd=tmp_path, env=env)
    assert (done.returncode, done.stdout.split()) == (0, [served, "{}"])
    assert done.stderr.count("AlthaiaWarning") == 1
    assert told in done.stderr


@pytest.mark.parametrize("name", ["ALTHAIA_PATCH", "ALTHAIA_PLANS"])
def test_a_bad_value_at_start_up_is_one_line_and_the_real_one(tmp_path, name):
    done = run("-c", CHECK, cwd=tmp_path, env={"ALTHAIA_PATCH": "1", name: "maybe"})
    assert (done.returncode, done.stdout.strip()) == (0, "real")
    assert done.stderr.startswith("althaia: not redirecting marshmallow: ")
    assert done.stderr.count("\n") == 1
    assert f"{name} is 'maybe'" in done.stderr


def test_the_installed_one_is_found_in_other_forms(tmp_path, monkeypatch):
    folder = tmp_path / "older"
    metadata = folder / "marshmallow-3.0.0-py3.11.egg-info"
    metadata.mkdir(parents=True)
    (metadata / "PKG-INFO").write_text("Name: marshmallow\nVersion: 3.0.0\n")
    (folder / "marshmallow_sqlalchemy-1.0.dist-info").mkdir()
    monkeypatch.setattr(sys, "path", [str(tmp_path / "missing"), str(folder)])
    assert installed.installed() == "3.0.0"
    # A start-up file runs while the folders that follow its own are not on the path yet.
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert installed.installed() is not None


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
        assert {*ours.__all__, "validate"} == set(althaia._UPSTREAMS)
        for name in [*ours.__all__, "validate"]:
            assert getattr(althaia, name) is getattr(ours, name), name
        althaia.patch()
        import marshmallow
        assert Schema is marshmallow.Schema is althaia.Schema
        assert not hasattr(althaia, "nope")
        """
    )
