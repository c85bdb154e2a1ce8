"""Two live copies of the library never come about silently."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import althaia
from althaia.switch import redirect
from tests.redirect.processes import environment, run

ROOT = Path(althaia.__file__).parent.parent


@pytest.fixture
def late(program):
    """Runs a program in which patch() is too late, and what is to hold of the error."""

    def check(before, then=""):
        program(
            f"""
import sys
sys.path.insert(0, "")
{before}
import althaia
try:
    althaia.patch()
except althaia.LatePatchError as error:
    text, holders = str(error), error.holders
else:
    raise AssertionError
{then}
assert not althaia.is_patched()
import marshmallow
assert sys.modules.get("althaia.marshmallow") is not marshmallow
assert not [f for f in sys.meta_path if type(f).__module__ == "althaia.switch.redirect"]
"""
        )

    return check


SHOP = "from marshmallow import Schema, fields\nclass Order(Schema):\n    x = fields.Int()\n"


def test_the_error_names_who_holds_references(tmp_path, late):
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "schemas.py").write_text(SHOP)
    dumps = "from shop.schemas import Order\norders = Order(many=True)\n"
    (tmp_path / "shop" / "dumps.py").write_text(dumps)
    (tmp_path / "innocent.py").write_text("import json\nclass Schema: ...\nmarshmallow = 1\n")
    late(
        "import innocent, shop.dumps",
        """
assert holders["shop.schemas"] == ["Order", "Schema", "fields"], holders
assert holders["shop.dumps"] == ["Order", "orders"] and len(holders) == 2, holders
assert "shop.schemas: Order, Schema, fields" in text
assert "python -m althaia" in text and "force=True" in text
""",
    )


@pytest.mark.parametrize(
    "imported",
    [
        "import marshmallow",
        "import marshmallow.fields; del marshmallow",
        "import sys, marshmallow.fields; del sys.modules['marshmallow']",
    ],
)
def test_late_however_little_was_imported(late, imported):
    late(imported)


def test_looking_for_holders_does_not_wake_lazy_modules(tmp_path, late):
    (tmp_path / "sleeper.py").write_text("raise SystemExit('woken')\n")
    late(
        """
import importlib.util
spec = importlib.util.find_spec("sleeper")
spec.loader = importlib.util.LazyLoader(spec.loader)
sys.modules["sleeper"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules["sleeper"])
sys.modules["odd"] = object()
import marshmallow
""",
        "assert list(holders) == ['__main__'], holders",
    )


def test_force_redirects_later_imports_and_unpatch_puts_the_real_one_back(program):
    program(
        """
        import sys
        import marshmallow, marshmallow.experimental.context
        real, held = marshmallow, marshmallow.Schema
        before = {n: m for n, m in sys.modules.items() if n.startswith("marshmallow")}
        import althaia
        assert althaia.patch(force=True) and althaia.is_patched()
        import marshmallow
        from marshmallow.experimental.context import Context
        assert marshmallow is not real and marshmallow.Schema is not held
        assert marshmallow.Schema.__module__ == held.__module__ == "marshmallow.schema"
        assert Context is not real.experimental.context.Context
        assert althaia.patch(), "asking again is harmless"
        assert althaia.unpatch()
        after = {n: m for n, m in sys.modules.items() if n.startswith("marshmallow")}
        assert after == before
        import marshmallow
        assert marshmallow is real
        """
    )


def test_the_real_one_put_back_behind_our_back(program):
    program(
        """
        import sys
        import marshmallow as real
        import althaia
        althaia.patch(force=True)
        sys.modules["marshmallow"] = real
        for attempt in (lambda: __import__("marshmallow.fields"), althaia.patch):
            try:
                attempt()
            except (ImportError, althaia.LatePatchError) as error:
                assert "real one" in str(error), error
            else:
                raise AssertionError(attempt)
        """
    )


@pytest.fixture
def site(tmp_path):
    """The site-packages of a virtual environment with althaia's start-up file, and its Python."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    folder = next((tmp_path / "venv").rglob("site-packages"))
    here = [str(ROOT), *(path for path in sys.path if path.endswith("site-packages"))]
    (folder / "a_paths.pth").write_text("\n".join(here), "utf-8")
    (folder / "althaia_startup.pth").write_bytes((ROOT / "althaia_startup.pth").read_bytes())
    python = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"

    def start(*words, **variables):
        done = subprocess.run(
            [python, *words],
            env=environment(variables),
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        return done.stderr

    return folder, start


IN_FRONT = "in a start-up file of Python, write 'import althaia; althaia.patch();' in front"


@pytest.mark.skipif(sys.implementation.name == "pypy", reason="a venv of PyPy is another")
@pytest.mark.parametrize(
    ("line", "culprit"), [("import marshmallow", "aa.pth"), ("import boot", "boot.py")]
)
def test_a_start_up_file_that_is_first_is_named(site, line, culprit):
    folder, start = site
    (folder / "boot.py").write_text("from marshmallow import Schema\n", "utf-8")
    (folder / "aa.pth").write_text(f"{line}\n", "utf-8")
    told = start("-m", "althaia", "-c", "")
    assert ("boot: Schema" in told) == (culprit == "boot.py")
    assert IN_FRONT in told
    assert "python -m althaia'" not in told
    told = start("-c", "", ALTHAIA_PATCH="1")
    assert told.count("not redirecting marshmallow") == 1
    assert "set ALTHAIA_PATCH" not in told
    # Following the advice ends the error.
    (folder / "aa.pth").write_text(f"import althaia; althaia.patch(); {line}\n", "utf-8")
    assert start("-m", "althaia", "-c", "") == start("-c", "", ALTHAIA_PATCH="1") == ""


def test_a_sitecustomize_that_is_first_is_named(tmp_path):
    (tmp_path / "sitecustomize.py").write_text("from marshmallow import Schema\n", "utf-8")
    env = {"PYTHONPATH": str(tmp_path)}
    told = run("-m", "althaia", "-c", "", cwd=tmp_path, env=env).stderr
    assert "sitecustomize: Schema" in told
    assert "or set ALTHAIA_PATCH=1" in told
    assert "python -m althaia'" not in told
    assert run("-c", "", cwd=tmp_path, env={**env, "ALTHAIA_PATCH": "1"}).stderr == ""


def test_a_module_of_the_program_that_is_first_is_named(tmp_path):
    (tmp_path / "shop.py").write_text("import marshmallow\n", "utf-8")
    (tmp_path / "app.py").write_text("import shop\nimport althaia\nalthaia.patch()\n", "utf-8")
    told = run("app.py", cwd=tmp_path).stderr
    assert "shop: marshmallow" in told
    assert "start the program with 'python -m althaia'" in told
    named = str(redirect.LatePatchError({"flask_marshmallow": ["Schema"]}))
    assert "'flask run'" in named
    assert "set ALTHAIA_PATCH=1 there" in named
