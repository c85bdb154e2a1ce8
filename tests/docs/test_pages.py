"""Pages name commands with options that there are, files that exist, and changes in short."""

import re
import shlex

import pytest

from althaia import cli
from tests.docs.conftest import ROOT

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
SHOWN = re.compile(rf"python -m althaia ({'|'.join(cli.COMMANDS)})\b([^`\n|#]*)")


def shown(page):
    """Each command with its arguments; where only its name is said, there is nothing to check."""
    for command, rest in SHOWN.findall(page.read_text("utf-8")):
        arguments = shlex.split(rest)
        if arguments and "…" not in rest:
            yield command, arguments


def test_the_commands_are_taken():
    taken = 0
    for page in PAGES:
        for command, arguments in shown(page):
            taken += 1
            try:
                cli.parser_of(command).parse_args(arguments)
            except SystemExit as error:
                pytest.fail(f"{page.name}: {command} does not take {arguments}: {error}")
    assert taken > 10


OF_MAINTAINERS = (
    "CONTRIBUTING.md",
    "docs/architecture.md",
    "docs/how-it-works.md",
    "docs/patches.md",
    "patches/README.md",
)
BASES = ("", "buildtools", "althaia", "althaia/engine", "althaia/cpython")
NAMED = re.compile(r"`([\w./-]+(?:/|\.(?:py|pyx|pxd|h|toml|md)))`")


def exists(name):
    return any((ROOT / base / name).exists() for base in BASES)


@pytest.mark.parametrize("page", OF_MAINTAINERS)
def test_named_files_exist(page):
    named = [
        name
        for name in NAMED.findall((ROOT / page).read_text("utf-8"))
        if "/" in name and not name.startswith(("changes/", "DIR/"))
    ]
    assert named
    assert [name for name in named if not exists(name)] == []


def test_the_map_shows_every_part_of_the_package():
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    shown = page.split("```")[1]
    names = set(re.findall(r"[\w]+", "\n".join(line[:34] for line in shown.splitlines())))
    package = ROOT / "althaia"
    parts = {
        path.name.partition(".")[0]
        for folder in (package, package / "engine", package / "formats")
        for path in folder.iterdir()
        if path.suffix in {".py", ".pyx"} or (path.is_dir() and (path / "__init__.py").exists())
    }
    # PyInstaller finds its folder by itself; the page describes the others in "A format".
    parts -= {"_pyinstaller", "keys", "registry", "sink", "tape"}
    assert parts - names == set(), "enter them in the map of docs/architecture.md"


NO_FRAGMENTS = "README.md", "template.jinja"
NAME = re.compile(r"[a-z0-9][a-z0-9-]*\.(added|changed|fixed|removed)\.md")


def test_fragments_have_names_and_one_line():
    for path in {*(ROOT / "changes").iterdir()} - {
        ROOT / "changes" / name for name in NO_FRAGMENTS
    }:
        assert NAME.fullmatch(path.name), path.name
        text = path.read_text("utf-8").strip()
        assert text.endswith("."), f"{path.name} is no sentence"
        assert "\n\n" not in text, f"{path.name} is more than a paragraph"
