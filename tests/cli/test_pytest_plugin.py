"""A test suite runs on our copy, from its very first import of marshmallow."""

import shutil
from pathlib import Path

import marshmallow
import pytest

from tests.cli.test_compare import PLANTED, SHOP
from tests.engine import NEEDS_ENGINE

PLUGIN = ("-p", "althaia.pytest_plugin")
OURS = """
import sys
import marshmallow

def test_ours():
    assert sys.modules.get("althaia.marshmallow") is marshmallow
"""
WARNING = """
def test_warned():
    import warnings
    from {module} import OldSchemaWarning
    warnings.warn("x", OldSchemaWarning)
    warnings.warn(OldSchemaWarning("x"))
"""


@pytest.fixture
def project(tmp_path):
    """A test project that names no warning class."""
    (tmp_path / "test_shop.py").write_text(OURS)
    (tmp_path / "conftest.py").write_text("import marshmallow\n")
    (tmp_path / "pytest.ini").write_text("[pytest]\nfilterwarnings =\n    error\n")
    return tmp_path


@pytest.fixture
def run_pytest(run, project):
    """Runs pytest on the project: its exit code, and what it said."""

    def run_it(*words, before=(), env=None):
        # The plugins of this environment would take a second to import, each time.
        alone = {"PYTEST_ADDOPTS": "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        env = {"PYTHONPATH": str(project), **alone, **(env or {})}
        words = (*before, "-m", "pytest", "-p", "no:cacheprovider", *words)
        done = run(*words, cwd=project, env=env)
        return done.returncode, done.stdout + done.stderr

    return run_it


def add_filter(project, category):
    """Let the project name a warning class in its configuration, and use it in a test."""
    with (project / "pytest.ini").open("a") as ini:
        ini.write(f"    ignore::{category}\n")
    tests = OURS + WARNING.format(module=category.rpartition(".")[0])
    (project / "test_shop.py").write_text(tests)


@pytest.fixture
def release_with_warnings(copied, project):
    """A marshmallow, and our copy of it, with a warning class of its own (4.4.0 has none)."""
    shutil.copytree(Path(marshmallow.__file__).parent, copied / "marshmallow")
    for package in (copied / "althaia" / "marshmallow", copied / "marshmallow"):
        if package.is_dir():  # A pure build has no copy.
            (package / "warnings.py").write_text("class OldSchemaWarning(UserWarning): ...\n")
    return "marshmallow.warnings.OldSchemaWarning"


@pytest.fixture
def library_with_warnings(project):
    (project / "shoplib.py").write_text(
        "import marshmallow\n"
        "class OldSchemaWarning(marshmallow.exceptions.MarshmallowError, UserWarning): ...\n"
    )
    return "shoplib.OldSchemaWarning"


@pytest.mark.parametrize(
    ("words", "added", "env", "code", "said"),
    [
        (PLUGIN, "", {}, 0, "marshmallow 4.4.0 is redirected"),
        ((), f"addopts = {' '.join(PLUGIN)}\n", {}, 0, "1 passed"),
        ((), "", {}, 1, "1 failed"),
        (PLUGIN, "", {"ALTHAIA_DISABLE": "1"}, 1, "switched off"),
    ],
    ids=["on the command line", "configured", "without it", "disabled"],
)
def test_which_marshmallow_the_suite_sees(run_pytest, project, words, added, env, code, said):
    with (project / "pytest.ini").open("a") as ini:
        ini.write(added)
    returned, shown = run_pytest(*words, env=env)
    assert returned == code, shown
    assert said in shown


WAYS = {
    "plugin": {},
    "runner": {"before": ("-m", "althaia")},
    "environment": {"env": {"ALTHAIA_PATCH": "1"}},
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("owner", ["release_with_warnings", "library_with_warnings"])
def test_filterwarnings_naming_a_class(run_pytest, project, way, owner, request):
    add_filter(project, request.getfixturevalue(owner))
    returned, shown = run_pytest(*(PLUGIN if way == "plugin" else ()), **WAYS[way])
    if (way, owner) == ("plugin", "library_with_warnings") and pytest.version_tuple >= (9,):
        assert returned != 0
        assert "shoplib: OldSchemaWarning, marshmallow" in shown
        assert "python -m althaia -m pytest" in shown
    else:
        assert returned == 0, shown
        assert "2 passed" in shown


def test_a_conftest_that_patches_is_too_late(run_pytest, project, library_with_warnings):
    add_filter(project, library_with_warnings)
    (project / "conftest.py").write_text("import althaia\nalthaia.patch()\n")
    returned, shown = run_pytest()
    assert returned != 0
    assert "shoplib: " in shown


@pytest.mark.parametrize("words", [(), PLUGIN], ids=["real", "ours"])
def test_tests_with_doubles_pass(run_pytest, project, words):
    pytest.importorskip("pytest_mock")
    (project / "pytest.ini").write_text("[pytest]\n")
    suite = Path(__file__).with_name("application_suite.py")
    shutil.copy(suite, project / "test_application.py")
    returned, shown = run_pytest(*words, "-p", "pytest_mock", "-q", "test_application.py")
    assert returned == 0, shown
    assert "7 passed" in shown


COMPARED = """
import pytest
from planted import Order, orders

def test_right():
    assert Order().dump({"number": 1}) == {"number": 1}
    assert Order().load({"number": 1}) == {"number": 1}

def test_wrong():
    Order().dump(orders(), many=True)

@pytest.fixture
def made():
    Order(many=True).dump(orders())

def test_wrong_in_a_fixture(made):
    pass

@pytest.mark.xfail(strict=False)
def test_expected_to_fail():
    Order().dump(orders()[3])
    assert False

def test_failing():
    Order().dump(orders()[3])
    assert False
"""


@pytest.fixture
def shop(project):
    """Let the project test a shop, some answers of which are wrong."""
    (project / "shop.py").write_text(SHOP)
    (project / "planted.py").write_text(PLANTED)
    (project / "test_shop.py").write_text(COMPARED)


@NEEDS_ENGINE
@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize(
    "more", [(), pytest.param(("-p", "xdist", "-n", "1"), marks=pytest.mark.slow)]
)
def test_a_difference_fails_the_test(run_pytest, more):
    returned, said = run_pytest(*PLUGIN, "--althaia-compare", "-rA", *more)
    assert returned == 1
    assert "PASSED test_shop.py::test_right" in said
    for name in ("test_wrong", "test_expected_to_fail", "test_failing"):
        assert f"FAILED test_shop.py::{name}" in said
    assert "ERROR test_shop.py::test_wrong_in_a_fixture" in said
    difference = "[3].lines[1].price: 5.5 by the plan, 4.5 by marshmallow's own code"
    assert f"althaia: shop.Order.dump differs at {difference}" in said
    assert "althaia: 6 calls compared, 4 different" in said


@pytest.mark.usefixtures("shop")
def test_without_the_option_nothing_is_compared(run_pytest):
    returned, said = run_pytest(*PLUGIN, "-k", "wrong")
    assert returned == 0, said
    assert "compared" not in said
