from __future__ import annotations

import datetime as dt
from collections.abc import AsyncIterator
from typing import Any

users = [
    {"name": "Ada", "email": "ada@example.org", "born": dt.date(1815, 12, 10)},
    {"name": "Grace", "email": "grace@example.org", "born": dt.date(1906, 12, 9)},
]
user = users[0]
rows = [{"key": f"k{number}", "amount": number} for number in range(3)]


async def rows_from_elsewhere() -> AsyncIterator[dict[str, Any]]:
    for row in rows:
        yield row
