"""Output that pages show without a command above it is what althaia says."""

import os
import re

import pytest

from althaia.trust.compare import Finding
from althaia.trust.differences import Difference
from althaia.trust.estimate import text as text_of_estimate
from althaia.trust.profile import Line, Profile
from tests.docs.conftest import ROOT
from tests.redirect import processes

SCHEMAS = """
from marshmallow import Schema, fields

class LineSchema(Schema):
    at = fields.DateTime()

class OrderSchema(Schema):
    lines = fields.List(fields.Nested(LineSchema))
"""


def sample(page, begin):
    """The block of the page that begins so, its words with one space between."""
    text = (ROOT / "docs" / page).read_text("utf-8")
    blocks = re.findall(r"^```[^\n]*\n(.*?)^```$", text, re.M | re.S)
    (found,) = (block for block in blocks if block.startswith(begin))
    return " ".join(found.split())


def failure(code, folder):
    ran = processes.run("-c", code, cwd=folder, env={"PYTHONPATH": str(ROOT)})
    assert ran.returncode == 1, ran.stdout + ran.stderr
    return " ".join(ran.stderr.split())


def test_patching_too_late(tmp_path):
    shown = sample("switching-on.md", "althaia.switch.redirect.LatePatchError")
    shop = tmp_path / "shop"
    shop.mkdir()
    (shop / "schemas.py").write_text(
        "from marshmallow import Schema, fields\n\n\nclass Order(Schema):\n    pass\n", "utf-8"
    )
    (shop / "views.py").write_text("from shop.schemas import Order\n", "utf-8")
    said = failure("import shop.views, althaia; althaia.patch()", tmp_path)
    assert shown.endswith(" …")
    assert shown.removesuffix(" …") in said.replace(str(tmp_path), "/srv/app")


def test_the_note_of_a_failure(tmp_path):
    if os.environ.get("ALTHAIA_PURE_BUILD"):
        pytest.skip("the engine makes the note")
    code = f"""
import datetime, althaia; althaia.patch(notes=True)
{SCHEMAS}
now = datetime.datetime(2026, 1, 1)
orders = [{{'lines': [{{'at': now}}, {{'at': now}}, {{'at': 5}}]}}] * 100
OrderSchema().dump(orders, many=True)
"""
    assert failure(code, tmp_path).endswith(sample("rollout.md", "TypeError: descriptor"))


def test_the_record_of_a_difference():
    difference = Difference("[3].lines[0].price", "7.0", "2.0")
    said = str(Finding("shop.schemas.Order", "dump", difference))
    assert sample("rollout.md", "shop.schemas.Order.dump differs") == said


def test_a_profile():
    order, lines = "shop.OrderSchema", "shop.LineSchema"
    code = {"OrderSchema.total (shop.py:41)": 1.12e-3}
    packages = {"SQLAlchemy: object_session (session.py:2041)": 0.84e-3}
    profile = Profile()
    profile.lines = [
        Line(order, "dump", 1, 1000, 6.32e-3, 6.32e-3, 1.96e-3, 0, 0.0, 4e-3, code, packages),
        Line(lines, "load", 3000, 3000, 2.04e-3, 2.04e-3, 0.0),
    ]
    page = (ROOT / "docs" / "profile.md").read_text("utf-8")
    assert f"```text\n{profile.as_text()}\n```" in page


def test_an_estimate():
    sides = ("marshmallow", "althaia", "loading", "wait")
    rows = [("dump", 60, 0.199, 4.33e-3, 7.45e-3, 0.024), ("()", 49, 1.5e-3, 1.03e-3, 0.0, 0.0)]
    lines = [
        {"schema": "app.FlatSchema", "call": call, "calls": calls, "why": "", "measured": 9}
        | dict(zip(sides, times, strict=True))
        for call, calls, *times in rows
    ]
    found = dict(zip(sides, (0.917, 0.721, 7.45e-3, 0.024), strict=True))
    text = "\n".join(text_of_estimate(found | {"share": 0.22, "lines": lines}))
    assert f"```text\n{text}\n```" in (ROOT / "docs" / "worth-it.md").read_text("utf-8")
