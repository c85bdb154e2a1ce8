"""Which of upstream's functions still mean what our analysers were written against.

A patch that applies proves nothing about meaning. ``althaia/releases/semantics.toml``
holds a digest of every function, class body and module body of the release somebody read;
where today's source differs, the build says so in the build info and the plans decline
that kind.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

from buildtools.errors import BuildError
from buildtools.shipped import digests as _digests

Digests = dict[str, str]
digests = _digests.digests


def differing(known: Mapping[str, str], present: Mapping[str, str]) -> list[str]:
    """Names whose meaning nobody has looked at: changed, new or gone."""
    return sorted(
        name for name in known.keys() | present.keys() if known.get(name) != present.get(name)
    )


def read(path: Path) -> Digests:
    """The recorded digests.

    :raises BuildError: the file is missing or malformed
    """
    try:
        table = tomllib.loads(path.read_text("utf-8"))
        return {str(name): str(value) for name, value in table["functions"].items()}
    except (OSError, KeyError, tomllib.TOMLDecodeError) as error:
        raise BuildError(
            str(path),
            f"no usable semantic lock ({error!r})",
            "restore it from version control; 'python -m buildtools semantics refresh' writes it",
        ) from error


def render(version: str, found: Mapping[str, str]) -> str:
    """The text of a semantic lock."""
    lines = [
        "# What upstream's code meant when the analysers were written against it.",
        "# Refresh only after reading each difference: 'python -m buildtools semantics diff'.",
        f'version = "{version}"',
        "",
        "[functions]",
    ]
    lines += [f'"{name}" = "{value}"' for name, value in sorted(found.items())]
    return "\n".join(lines) + "\n"
