"""Commands of ours that pages name have the options that they are shown with."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from althaia import cli
from tests.docs.conftest import ROOT

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
SHOWN = re.compile(rf"python -m althaia ({'|'.join(cli.COMMANDS)})\b([^`\n|#]*)")


def shown(page: Path) -> Iterator[tuple[str, list[str]]]:
    """Each command with its arguments; where only its name is said, there is nothing to check."""
    for command, rest in SHOWN.findall(page.read_text("utf-8")):
        arguments = shlex.split(rest)
        if arguments and "…" not in rest:
            yield command, arguments


def test_something_is_shown() -> None:
    assert sum(1 for page in PAGES for _ in shown(page)) > 10


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_commands_are_taken(page: Path) -> None:
    for command, arguments in shown(page):
        try:
            cli.parser_of(command).parse_args(arguments)
        except SystemExit as error:
            pytest.fail(f"{command} does not take {arguments}: {error}")
