from __future__ import annotations

import json

import pytest


def order(i):
    return {
        "id": i,
        "name": f"Ünder {i}",
        "at": "2025-01-02T03:04:05+00:00",
        "day": "2025-01-02",
        "key": f"00000000-0000-0000-0000-{i:012x}",
        "paid": i % 2 == 0,
        "rate": None if i % 3 else i / 7,
        "lines": [{"position": 1, "price": "1.50"}],
    }


@pytest.fixture
def orders():
    return [order(i) for i in range(1, 501)]


@pytest.fixture
def ndjson(tmp_path, orders):
    file = tmp_path / "orders.ndjson"
    file.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in orders))
    return file
