"""``help()``, signatures and annotations: the same with althaia and without."""

import pytest

from tests.redirect.processes import program, redirected

APPLICATION = '''
"""Schemas of an application."""

import typing

from marshmallow import Schema, ValidationError, fields, post_load, validates


class Name(fields.String):
    """A name in capitals."""

    def _serialize(self, value: typing.Any, attr: str | None, obj: object, **kwargs) -> str:
        """In capitals."""
        return str(value).upper()


class User(Schema):
    """A user of the shop."""

    name = Name(required=True, metadata={"description": "full name"})
    born: fields.Field = fields.Integer(load_default=0)

    @validates("born")
    def check_born(self, value: int, data_key: str) -> None:
        """Nobody was born in the future."""

    @post_load
    def make(self, data: dict[str, typing.Any], **kwargs: typing.Any) -> dict[str, typing.Any]:
        """Leave the data as they are."""
        return data

    def load(self, data: typing.Any, *, many: bool | None = None, **kwargs) -> typing.Any:
        """Load more politely."""
        return super().load(data, many=many, **kwargs)
'''

LOOK = """
import inspect
import pydoc
import typing

import shop
from marshmallow import Schema, ValidationError, fields, validate


def answer(function, value):
    try:
        return function(value)
    except Exception as error:
        return type(error).__name__


for owner in (shop.User, shop.Name, Schema, fields.Field, fields.Nested, validate.Length):
    print("class", owner, inspect.signature(owner), answer(typing.get_type_hints, owner))
    for name in dir(owner):
        value = inspect.getattr_static(owner, name)
        value = getattr(owner, name) if not isinstance(value, property) else value.fget
        if callable(value):
            print(name, answer(inspect.signature, value), answer(typing.get_type_hints, value))
for described in (shop, shop.User, shop.Name, Schema, Schema.load, ValidationError):
    print(pydoc.render_doc(described, renderer=pydoc.plaintext))
"""

# "inspect.getdoc of an undocumented method" in docs/differences.md.
INHERITED = ("Initialize self.  See help(type(self)) for accurate signature.", "Return repr(self).")
# It names the type of a function.
HEADING = "Python Library Documentation: "


@pytest.fixture
def shop(tmp_path):
    (tmp_path / "shop.py").write_text(APPLICATION, "utf-8")
    return tmp_path


def test_help_signatures_and_hints_are_the_same(shop):
    expected = without_inherited(program(LOOK, cwd=shop))
    actual = without_inherited(redirected(LOOK, way="patch()", cwd=shop))
    assert actual == expected
    assert any(line.startswith("load (self, data: ") for line in actual)


def test_all_of_it_is_the_same_in_installed_files(shop):
    interpreted = {"ALTHAIA_COMPILED": "0"}
    actual = redirected(LOOK, way="patch()", cwd=shop, env=interpreted)
    assert actual.splitlines() == program(LOOK, cwd=shop).splitlines()


def without_inherited(printed):
    """The lines, without what methods inherit from ``object`` and without headings and empty
    lines."""
    lines = [line.strip(" |") for line in printed.splitlines()]
    return [
        line for line in lines if line and line not in INHERITED and not line.startswith(HEADING)
    ]
