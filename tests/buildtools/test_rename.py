"""The rename: import statements and nothing else."""

import ast

import pytest

from buildtools.errors import BuildError
from buildtools.rename import rename

pytestmark = pytest.mark.slow

SOURCE = '''\
"""See marshmallow.fields; from marshmallow import Schema works."""
from marshmallow import types
from marshmallow.utils import (  # from marshmallow
    missing,
)
from . import fields
if types:
    from marshmallow.schema import Schema; x = "from marshmallow import y"
name = "marshmallow.schema"
from marshmallow_sqlalchemy import auto_field
import marshmallow_jsonapi
'''


def test_only_imports_change():
    expected = SOURCE.replace("\nfrom marshmallow ", "\nfrom althaia.marshmallow ")
    expected = expected.replace("\nfrom marshmallow.", "\nfrom althaia.marshmallow.")
    expected = expected.replace("    from marshmallow.", "    from althaia.marshmallow.")
    assert rename("x.py", SOURCE) == expected


@pytest.mark.parametrize("line", ["import marshmallow", "import os, marshmallow.fields as f"])
def test_an_unknown_form_stops_the_build(line):
    with pytest.raises(BuildError, match=r"x\.py, line 2: expected only"):
        rename("x.py", f"pass\n{line}\n")


@pytest.mark.parametrize("release", ["pinned", "older_line"])
def test_all_imports_are_renamed_and_strings_stay(release, request):
    source = request.getfixturevalue(release)
    for name in source.modules:
        before, after = (
            [*ast.walk(ast.parse(text))]
            for text in (source.text(name), rename(name, source.text(name)))
        )
        for node in after:
            if isinstance(node, ast.ImportFrom) and not node.level:
                assert (node.module or "").split(".")[0] != "marshmallow", (name, node.lineno)
        was, now = (
            [n.value for n in each if isinstance(n, ast.Constant)] for each in (before, after)
        )
        assert now == was
