"""A test suite runs on our copy, from its very first import of marshmallow."""

import shutil
from functools import partial
from pathlib import Path

import pytest

import althaia
from tests.cli.test_compare import PLANTED, SHOP
from tests.engine import NEEDS_ENGINE

TESTS = """
import sys, warnings
import marshmallow
from {module} import OldSchemaWarning

def test_ours():
    assert sys.modules["althaia.marshmallow"] is marshmallow
    warnings.warn("x", OldSchemaWarning)
    warnings.warn(OldSchemaWarning("x"))
"""


@pytest.fixture
def project(tmp_path):
    """A test project that names no warning class."""
    (tmp_path / "test_shop.py").write_text(
        "import sys\nimport marshmallow\n"
        "def test_ours():\n    assert sys.modules.get('althaia.marshmallow') is marshmallow\n"
    )
    (tmp_path / "conftest.py").write_text("import marshmallow\n")
    (tmp_path / "pytest.ini").write_text("[pytest]\nfilterwarnings =\n    error\n")
    return tmp_path


@pytest.fixture
def run_pytest(run, project):
    """Runs pytest on the project."""

    def run_it(*words, before=(), env=None):
        # The plugins of this environment would take a second to import, each time.
        alone = {"PYTEST_ADDOPTS": "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        env = {"PYTHONPATH": str(project), **alone, **(env or {})}
        return run(*before, "-m", "pytest", "-p", "no:cacheprovider", *words, cwd=project, env=env)

    return run_it


def add_filter(project, category):
    """Let the project name a warning class in its configuration, and use it in a test."""
    with (project / "pytest.ini").open("a") as ini:
        ini.write(f"    ignore::{category}\n")
    tests = TESTS.format(module=category.rpartition(".")[0])
    (project / "test_shop.py").write_text(tests)


@pytest.fixture
def release_with_warnings(project):
    """A marshmallow, and our copy of it, with a warning class of its own (4.4.0 has none)."""
    import marshmallow

    ignore = shutil.ignore_patterns("__pycache__")
    ours = Path(althaia.__file__).parent
    shutil.copytree(ours, project / "althaia", ignore=ignore)
    if (queue := ours.parent / "patches").is_dir():  # A wheel has it in althaia.
        shutil.copytree(queue, project / "patches")
    shutil.copytree(Path(marshmallow.__file__).parent, project / "marshmallow", ignore=ignore)
    for package in (project / "althaia" / "marshmallow", project / "marshmallow"):
        if package.is_dir():  # A pure build has no copy.
            (package / "warnings.py").write_text("class OldSchemaWarning(UserWarning): ...\n")
    return "marshmallow.warnings.OldSchemaWarning"


@pytest.fixture
def library_with_warnings(project):
    """A library on top of marshmallow with a warning class."""
    (project / "shoplib.py").write_text(
        "import marshmallow\n"
        "class OldSchemaWarning(marshmallow.exceptions.MarshmallowError, UserWarning): ...\n"
    )
    return "shoplib.OldSchemaWarning"


PLUGIN = ("-p", "althaia.pytest_plugin")


def test_on_the_command_line(run_pytest):
    done = run_pytest(*PLUGIN)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout
    assert "marshmallow 4.4.0 is redirected" in done.stdout


def test_in_the_configuration_file(run_pytest, project):
    with (project / "pytest.ini").open("a") as ini:
        ini.write(f"addopts = {' '.join(PLUGIN)}\n")
    done = run_pytest()
    assert done.returncode == 0, done.stdout + done.stderr


def test_without_it_the_project_sees_the_real_one(run_pytest):
    done = run_pytest()
    assert done.returncode == 1
    assert "1 failed" in done.stdout


def test_disabled_it_says_so(run_pytest):
    done = run_pytest(*PLUGIN, env={"ALTHAIA_DISABLE": "1"})
    assert done.returncode == 1
    assert "switched off" in done.stdout


def test_filterwarnings_naming_a_class_of_marshmallow(run_pytest, project, release_with_warnings):
    add_filter(project, release_with_warnings)
    done = run_pytest(*PLUGIN)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


@pytest.mark.parametrize(
    "how",
    [{"before": ("-m", "althaia")}, {"env": {"ALTHAIA_PATCH": "1"}}],
    ids=["runner", "environment"],
)
@pytest.mark.parametrize("owner", ["release_with_warnings", "library_with_warnings"])
def test_filterwarnings_naming_any_class(run_pytest, project, how, owner, request):
    add_filter(project, request.getfixturevalue(owner))
    done = run_pytest(**how)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


def test_filterwarnings_naming_a_class_made_of_marshmallows(
    run_pytest, project, library_with_warnings
):
    add_filter(project, library_with_warnings)
    done = run_pytest(*PLUGIN)
    if pytest.version_tuple < (9,):
        assert done.returncode == 0, done.stdout + done.stderr
    else:
        assert done.returncode != 0
        shown = done.stdout + done.stderr
        assert "shoplib: OldSchemaWarning, marshmallow" in shown
        assert "python -m althaia -m pytest" in shown


def test_a_conftest_that_patches_is_too_late(run_pytest, project, library_with_warnings):
    add_filter(project, library_with_warnings)
    (project / "conftest.py").write_text("import althaia\nalthaia.patch()\n")
    done = run_pytest()
    assert done.returncode != 0
    assert "shoplib: " in done.stdout + done.stderr


SUITE = Path(__file__).with_name("application_suite.py")


@pytest.mark.parametrize("words", [(), ("-p", "althaia.pytest_plugin")], ids=["real", "ours"])
def test_the_tests_of_a_web_application_pass(run_pytest, project, words):
    pytest.importorskip("pytest_mock")
    (project / "pytest.ini").write_text("[pytest]\n")
    shutil.copy(SUITE, project / "test_application.py")
    done = run_pytest(*words, "-p", "pytest_mock", "-q", "test_application.py")
    assert done.returncode == 0, done.stdout
    assert "21 passed" in done.stdout


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
def suite(run_pytest, project):
    """Runs pytest on a shop, some answers of which are wrong."""
    (project / "shop.py").write_text(SHOP)
    (project / "planted.py").write_text(PLANTED)
    (project / "test_shop.py").write_text(COMPARED)
    return partial(run_pytest, *PLUGIN)


@NEEDS_ENGINE
@pytest.mark.parametrize(
    "more", [(), pytest.param(("-p", "xdist", "-n", "1"), marks=pytest.mark.slow)]
)
def test_a_difference_fails_the_test(suite, more):
    done = suite("--althaia-compare", "-rA", *more)
    assert done.returncode == 1
    said = done.stdout
    assert "PASSED test_shop.py::test_right" in said
    for name in ("test_wrong", "test_expected_to_fail", "test_failing"):
        assert f"FAILED test_shop.py::{name}" in said
    assert "ERROR test_shop.py::test_wrong_in_a_fixture" in said
    assert (
        "althaia: shop.Order.dump differs at [3].lines[1].price: 5.5 by the plan, 4.5 by "
        "marshmallow's own code"
    ) in said
    assert "althaia: 6 calls compared, 4 different" in said


def test_without_the_option_nothing_is_compared(suite):
    done = suite("-k", "wrong")
    assert done.returncode == 0, done.stdout
    assert "compared" not in done.stdout
