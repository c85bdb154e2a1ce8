"""What plans rest on in releases other than the one they were written against."""

from pathlib import Path

import pytest

from althaia.engine.plan import FEATURES_BY_VARIANT
from althaia.releases import meanings
from buildtools import semantics
from tests import releases
from tests.redirect.processes import succeed

ROOT = Path(__file__).parents[2]
KNOWN = tuple(releases.TESTED)
"""Releases of which somebody has read every function."""
WITH_CONTEXT = tuple(each for each in KNOWN if each < "4")
"""Those whose instances have a context."""


SAMPLE = ("3.26.2", "4.3.1", *releases.OF_THE_DAY)
"""The releases that ``make test`` asks; the others are slow, since each is fetched first."""


def each_of(versions):
    return [
        pytest.param(version, marks=[] if version in SAMPLE else pytest.mark.slow)
        for version in versions
    ]


def table():
    path = ROOT / "althaia" / "releases" / "semantics.toml"
    return meanings.Table.parse(path.read_text("utf-8"))


def present(version):
    package = releases.installed(version) / "marshmallow"
    return semantics.digests(
        {
            path.relative_to(package).as_posix(): path.read_text("utf-8")
            for path in package.rglob("*.py")
        }
    )


@pytest.mark.parametrize("version", each_of(KNOWN))
def test_every_function_has_been_read(version):
    assert table().meanings_of_all(present(version))[0] == []


def test_the_engine_knows_every_variant():
    recorded = {
        (name, text.partition(":")[0])
        for name, by_digest in table().variants.items()
        for text in by_digest.values()
    }
    assert recorded == set(FEATURES_BY_VARIANT)


def run_on(version, *words):
    """Run the interpreter on a release, insist on exit code 0, and return what it printed."""
    return succeed(*words, cwd=ROOT, env={"PYTHONPATH": str(releases.installed(version))})


@pytest.mark.parametrize("version", each_of(KNOWN))
@pytest.mark.parametrize("topic", ["planned", "answers"])
def test_a_release_is_planned_and_answers_as_it_does(topic, version):
    words = ("-W", "error::UserWarning", "-m", "tests.plans.programs.release", topic)
    assert run_on(version, *words) == f"{version}: {topic}\n"


@pytest.mark.parametrize("version", each_of(WITH_CONTEXT))
@pytest.mark.parametrize("topic", ["context", "kinds_of_3", "written_for_3"])
def test_what_only_release_3_has(topic, version):
    assert run_on(version, "-m", f"tests.plans.programs.{topic}") == f"{topic}\n"
