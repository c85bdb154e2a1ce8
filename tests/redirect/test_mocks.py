"""What a test has mocked by the first dump or load does not stay in the engine."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from unittest import mock

import pytest

from althaia import mocks

ENGINE = Path(mocks.__file__).parent
IMPORT = re.compile(r"^from (\w+(?:\.\w+)*) import ([\w, ]+)$", re.MULTILINE)

PROGRAM = """
import copy
import marshmallow as ma
from unittest import mock

class Child(ma.Schema):
    x = ma.fields.Int()

class Parent(ma.Schema):
    a = ma.fields.Int()
    n = ma.fields.Nested(Child())
    e = ma.fields.Email(error_messages={{"invalid": "{{foo}} is no address"}})

first, real = Parent(), {name}
ma.validate.Email()("a@b.co")

def tried(function, *args):
    try:
        return function(*args)
    except Exception as error:
        return type(error), str(error)

with mock.patch("{name}"{how}) as mocked:
    for _ in range(3):
        print(tried(first.dump, {{"a": 1}}), tried(first.load, {{"e": "a@b.co"}}))
    if {made}:
        for _ in range(5):
            second = tried(Parent)
            print(tried(lambda: second.fields["a"] is Parent._declared_fields["a"]))
    print(len(mocked.mock_calls))
for _ in range(12):
    copied = copy.deepcopy(first)
    print(copied.dump({{"a": 1, "n": {{"x": 2}}}}), sorted(copy.deepcopy(vars(first))))
    print(tried(copied.load, {{"e": "a@b.co"}}), first.dump({{"a": 1}}))
"""


@pytest.mark.parametrize("how", ["", ", wraps=real", ", side_effect=lambda x, memo=None: x"])
@pytest.mark.parametrize("name", ["copy.deepcopy", "copy.copy"])
def test_copying(patched, program, name, how):
    text = PROGRAM.format(name=name, how=how, made=bool(how))
    assert patched(text) == program(text)


@pytest.mark.parametrize(
    "name", ["re.compile", "functools.partial", "inspect.signature", "contextlib.contextmanager"]
)
@pytest.mark.parametrize("how", ["", ", autospec=True"])
def test_what_the_engine_is_made_with(patched, program, name, how):
    module = name.partition(".")[0]
    text = f"import {module}\n" + PROGRAM.format(name=name, how=how, made=False)
    planned = """
import althaia
[counted] = [each for name, each in althaia.stats().items() if "Parent" in name]
assert counted["dump"]["calls"] > 0, counted
"""
    assert patched(text + planned) == program(text)


def test_nothing_is_mocked_here():
    assert mocks.found() == []


def test_what_is_told():
    with mock.patch("re.compile"), mock.patch.dict(sys.modules, {"enum": None}):
        assert mocks.found() == ["enum", "re.compile"]


def _imports() -> set[tuple[str, str]]:
    """Modules and names that the modules of the engine take from the standard library."""
    found = set()
    for folder in ("plans", "sinks", "sources"):
        for path in (ENGINE / folder).rglob("*.py*"):
            if path.suffix in (".py", ".pyx"):
                for module, names in IMPORT.findall(path.read_text(encoding="utf-8")):
                    found |= {(module, name.strip()) for name in names.split(",")}
    return {(module, name) for module, name in found if module.split(".")[0] != "althaia"}


def test_all_that_is_taken_is_looked_at():
    looked_at = {(module, name) for module, names in mocks.TAKEN.items() for name in names}
    taken = {each for each in _imports() if each[0] not in ("__future__", "types", "typing")}
    assert len(taken) > 8
    assert taken <= looked_at
