"""Run the test suites of packages built on marshmallow, on the real one and patched.

Each package gets an environment of its own below ``build/dependents``, with the release of
marshmallow that is asked for. Its suite comes from its sdist. It runs on the real marshmallow, then
patched, and then patched with plans made at a schema's first use: most tests use a schema once. A
package gives the same results if every test ends alike in all three.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from buildtools import fetch
from buildtools.errors import BuildError, output_of
from buildtools.layout import Layout

Results = dict[str, str]
"""How each test ended: ``passed``, ``failed``, ``error`` or ``skipped``, by its name."""


@dataclass(frozen=True)
class Dependent:
    """A package with a suite in its sdist.

    :ivar needed: what its suite needs besides pytest
    :ivar options: pytest's, such as tests that need a network
    :ivar major: the marshmallow that it is tested with, 3 or 4
    """

    name: str
    version: str
    needed: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    major: str = "3"

    @property
    def label(self) -> str:
        return f"{self.name}-{self.version}"


_FRAMEWORKS = (
    "flask<3", "werkzeug<3", "django<5", "bottle", "tornado", "pyramid", "falcon<4", "aiohttp<3.11",
    "webtest", "webtest-aiohttp==2.0.0", "pytest-aiohttp<1.1", "pytest-asyncio<0.24",
    "setuptools<70",
)  # fmt: skip

_NOT_FOR_3_11 = ("--ignore=tests/test_py3", "--ignore=tests/test_webapp2parser.py")

DEPENDENTS = (
    Dependent("apispec", "6.7.1", ("pyyaml", "openapi-spec-validator==0.7.1")),
    Dependent(
        "flask-marshmallow", "1.2.1", ("flask-sqlalchemy>=3", "marshmallow-sqlalchemy==1.1.1")
    ),
    Dependent("environs", "11.0.0", ("dj-database-url", "dj-email-url", "django-cache-url")),
    Dependent("marshmallow-oneofschema", "3.1.1"),
    Dependent(
        "marshmallow-sqlalchemy", "0.28.2", ("sqlalchemy<2", "pytest<8", "pytest-lazy-fixture")
    ),
    Dependent(
        "marshmallow-sqlalchemy", "0.29.0", ("sqlalchemy<2.1", "pytest<8", "pytest-lazy-fixture")
    ),
    Dependent(
        "marshmallow-sqlalchemy", "1.0.0", ("sqlalchemy<2.1", "pytest<8", "pytest-lazy-fixture")
    ),
    Dependent("marshmallow-sqlalchemy", "1.1.1", ("sqlalchemy<2.1", "pytest-lazy-fixtures")),
    Dependent("marshmallow-utils", "0.12.1", ("setuptools<70",)),
    Dependent("webargs", "6.1.1", _FRAMEWORKS, _NOT_FOR_3_11),
    Dependent("webargs", "7.0.1", _FRAMEWORKS, _NOT_FOR_3_11),
    Dependent("webargs", "8.6.0", _FRAMEWORKS),
    Dependent(
        "apiflask",
        "3.1.2",
        ("openapi-spec-validator", "pyyaml", "flask[async]", "pydantic[email]"),
        major="4",
    ),
    Dependent("apispec", "6.10.1", ("pyyaml", "openapi-spec-validator==0.7.1"), major="4"),
    Dependent(
        "environs", "15.2.0", ("dj-database-url", "dj-email-url", "django-cache-url"), major="4"
    ),
    Dependent(
        "flask-marshmallow",
        "1.5.0",
        ("flask-sqlalchemy>=3", "marshmallow-sqlalchemy==1.6.0"),
        major="4",
    ),
    Dependent("flask-smorest", "0.47.0", ("pyyaml", "flask[async]"), major="4"),
    Dependent("marshmallow-dataclass", "8.7.1", ("typeguard", "typing-inspect"), major="4"),
    Dependent("marshmallow-oneofschema", "3.2.0", major="4"),
    Dependent(
        "marshmallow-sqlalchemy", "1.6.0", ("sqlalchemy<2.1", "pytest-lazy-fixtures"), major="4"
    ),
    Dependent("webargs", "8.7.1", _FRAMEWORKS, major="4"),
)
"""Some of one package in several releases, as applications have them."""


def run(layout: Layout, release: str, names: Sequence[str]) -> Iterator[str]:
    """Run the suites on a release; yields lines to print, the table's first.

    :param names: only these packages; all that are tested with the release's major if empty
    :raises BuildError: none is chosen, a suite cannot be run, or it gives other results patched
    """
    major = release.split(".")[0]
    chosen = [
        each
        for each in DEPENDENTS
        if each.major == major and (not names or each.name in names or each.label in names)
    ]
    if not chosen:
        known = ", ".join(sorted({each.name for each in DEPENDENTS if each.major == major}))
        raise BuildError(
            "dependents",
            f"none of these packages is tested with marshmallow {release}: {', '.join(names)}",
            f"those that are: {known or 'none'}",
        )
    different = []
    yield f"| package | on marshmallow {release} | patched | plans from the first use |"
    yield "|---|---|---|---|"
    for each in chosen:
        folder = layout.root / "build" / "dependents" / f"{each.label}-{release}"
        python = _environment(each, folder, release)
        # Without the package itself: the installed one is tested.
        suite = fetch.sdist(each.name, each.version, folder / "sdist")
        results = [_results(each, suite, python, layout.root, way) for way in _WAYS]
        yield f"| {each.name} {each.version} | {' | '.join(map(_counts, results))} |"
        real, *others = results
        found = [
            f"{each.label}: {name}: {real.get(name)} on the real one, {patched.get(name)} {how}"
            for patched, how in zip(
                others, ("patched", "with plans from the first use"), strict=True
            )
            for name in sorted(real.keys() | patched.keys())
            if real.get(name) != patched.get(name)
        ]
        different += found
        yield from found
    if different:
        raise BuildError("dependents", f"{len(different)} tests end otherwise", "see above")


_PLUGIN = """\
from althaia.trust import seam_layers


def pytest_configure(config):
    seam_layers.plan_at_once()
"""

_PATCHED = ("-p", "althaia.pytest_plugin")
_WAYS = ((), _PATCHED, (*_PATCHED, "-p", "plans_at_once"))
"""The options of pytest on the real marshmallow, patched, and with plans from the first use."""


def _environment(each: Dependent, folder: Path, release: str) -> Path:
    """The interpreter of the package's environment, which is made if it is not complete."""
    python = folder / "bin" / "python"
    stamp = folder / "made"
    wanted = (f"{each.name}=={each.version}", f"marshmallow=={release}", "pytest<9", *each.needed)
    if not stamp.is_file() or stamp.read_text("utf-8") != "\n".join(wanted):
        shutil.rmtree(folder, ignore_errors=True)
        output_of(sys.executable, "-m", "venv", str(folder))
        output_of(str(python), "-m", "pip", "install", "--quiet", *wanted)
        stamp.write_text("\n".join(wanted), "utf-8")
    return python


def _results(
    each: Dependent, suite: Path, python: Path, root: Path, options: Sequence[str]
) -> Results:
    """Run the suite, and say how its tests ended."""
    report = suite / "report.xml"
    report.unlink(missing_ok=True)
    # The package alone: our tests and theirs have the same name.
    ours = suite.parent / "ours"
    ours.mkdir(exist_ok=True)
    if not (ours / "althaia").exists():
        (ours / "althaia").symlink_to(root / "althaia", target_is_directory=True)
    (ours / "plans_at_once.py").write_text(_PLUGIN, "utf-8")
    # Not our settings, which pytest would find above; theirs ask for plugins.
    settings = suite.parent / "pytest.ini"
    settings.write_text("[pytest]\n", "utf-8")
    command = [
        str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly",
        f"--junitxml={report}", "--rootdir", str(suite), "-c", str(settings),
        *each.options, *options, "tests",
    ]  # fmt: skip
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("ALTHAIA")
    } | {"PYTHONPATH": str(ours), "PYTHONHASHSEED": "0"}
    done = subprocess.run(
        command, cwd=suite, env=environment, capture_output=True, text=True, check=False
    )
    if not report.is_file() or done.returncode not in (0, 1):
        output = (done.stdout + done.stderr)[-3000:]
        raise BuildError(each.label, f"its suite does not run:\n{output}", f"look at {suite}")
    return dict(_ended(report))


def _ended(report: Path) -> Iterator[tuple[str, str]]:
    for case in ElementTree.parse(report).iter("testcase"):
        name = f"{case.get('classname')}::{case.get('name')}"
        found = [child.tag for child in case if child.tag in ("failure", "error", "skipped")]
        yield name, {"failure": "failed"}.get(found[0], found[0]) if found else "passed"


def _counts(results: Results) -> str:
    counted = Counter(results.values())
    return ", ".join(f"{counted[word]} {word}" for word in _WORDS if counted[word])


_WORDS = ("passed", "failed", "error", "skipped")
