"""Quart's provider is Flask's; the same function serves it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

quart = pytest.importorskip("quart")

from althaia.adapters.quart import JSONProvider, use  # noqa: E402
from tests.adapters.conftest import VALUES  # noqa: E402


def test_jsonify_writes_the_same_bytes() -> None:
    async def bodies(app: Any) -> list[bytes]:
        async with app.app_context():
            return [await quart.jsonify(value).get_data() for value in VALUES]

    plain, ours = quart.Quart("shop"), use(quart.Quart("shop"))
    assert isinstance(ours.json, JSONProvider)
    assert asyncio.run(bodies(ours)) == asyncio.run(bodies(plain))
