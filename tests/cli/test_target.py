"""``package.module:Name`` names an object, or says why it does not."""

from __future__ import annotations

import os.path

import pytest

from althaia.cli import CommandError
from althaia.cli.target import resolve


def test_what_it_finds():
    assert resolve("os.path:join") is os.path.join
    assert resolve("collections:OrderedDict.fromkeys").__name__ == "fromkeys"


@pytest.mark.parametrize("text", ["os.path", "os.path:", ":join", "", "os.path.join"])
def test_another_form(text):
    with pytest.raises(CommandError, match=r"is not of the form package\.module:Name"):
        resolve(text)


@pytest.mark.parametrize(
    ("text", "missing"),
    [("nope:X", "nope"), ("os.nope:X", "os.nope"), ("nope.deeper:X", "nope")],
)
def test_no_such_module(text, missing):
    with pytest.raises(CommandError, match=f"no module '{missing}'"):
        resolve(text)


def test_no_such_attribute():
    with pytest.raises(CommandError, match=r"'Order'.*os:path\.Order"):
        resolve("os:path.Order")


def test_an_error_inside_the_module_is_its_own(tmp_path, monkeypatch):
    (tmp_path / "shop_broken.py").write_text("import shop_dependency\n")
    (tmp_path / "shop_raising.py").write_text("raise ValueError('inside')\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="shop_dependency"):
        resolve("shop_broken:X")
    with pytest.raises(ValueError, match="inside"):
        resolve("shop_raising:X")
