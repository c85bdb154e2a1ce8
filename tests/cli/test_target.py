"""``package.module:Name`` names an object, or says why it does not."""

import sys

import pytest

from althaia.cli import CommandError
from althaia.cli.target import failure, imported, resolve


def test_an_error_inside_the_module_is_its_own(tmp_path, monkeypatch):
    (tmp_path / "shop_broken.py").write_text("import shop_dependency\n")
    (tmp_path / "shop_raising.py").write_text("raise ValueError('inside')\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="shop_dependency"):
        resolve("shop_broken:X")
    with pytest.raises(ValueError, match="inside"):
        resolve("shop_raising:X")


def test_a_class_written_as_a_module_is_pointed_out(tmp_path, monkeypatch):
    (tmp_path / "shop_dotted.py").write_text("class Order: pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(
        CommandError, match=r"'shop_dotted\.Order'; did you mean shop_dotted:Order\?"
    ):
        imported("shop_dotted.Order")
    with pytest.raises(CommandError, match=r"'shop_dotted\.Other'$"):
        imported("shop_dotted.Other")


RAISING = """
import json, sqlite3
class OperationalError(Exception):
    pass
def raised():
    raise OperationalError('no table\\n[SQL: SELECT 1]\\n(Background: e3q8)')
def late():
    raise ValueError('\\n  3 problems:\\n a\\n b')
def inside():
    json.loads('{')
def syntax():
    import shop_syntax
def ended():
    raise SystemExit(0)
"""


@pytest.mark.parametrize(
    ("name", "said", "place"),
    [
        ("raised", "shop_failing.OperationalError: no table", "shop_failing.py, line 6"),
        ("late", "ValueError: 3 problems:", "shop_failing.py, line 8"),
        ("inside", "json.decoder.JSONDecodeError: Expecting property", "shop_failing.py, line 10"),
        ("syntax", "SyntaxError: '(' was never closed", "shop_syntax.py, line 2"),
        ("ended", "SystemExit: 0", "shop_failing.py, line 14"),
    ],
)
def test_a_failure_has_class_first_line_and_the_user_s_place(
    tmp_path, monkeypatch, name, said, place
):
    (tmp_path / "shop_failing.py").write_text(RAISING)
    monkeypatch.delitem(sys.modules, "shop_failing", raising=False)
    (tmp_path / "shop_syntax.py").write_text("x = 1\nprint(\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(BaseException) as caught:  # noqa: PT011
        resolve(f"shop_failing:{name}")()
    line = failure("shop:Order", caught.value)
    assert line.startswith(f"shop:Order raised {said}")
    assert line.endswith(f" ({tmp_path / place})")
    assert "\n" not in line
