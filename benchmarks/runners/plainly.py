"""Bring another library's output into the form upstream's is compared in. Never timed."""

from __future__ import annotations

import datetime as dt
import json
import re
from typing import Any

from benchmarks.cases.calls import Written

_UTC = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")


def spell_utc(value: Any) -> Any:
    """``…Z`` and ``…+00:00`` name the same moment; upstream writes the latter.

    A loaded moment of another library's own time zone class becomes one of the standard
    library's, which can be read in a process without that library.
    """
    if isinstance(value, dt.datetime) and value.tzinfo is not None:
        return value.astimezone(dt.UTC)
    if isinstance(value, str):
        return f"{value[:-1]}+00:00" if _UTC.fullmatch(value) else value
    if isinstance(value, dict):
        return {key: spell_utc(item) for key, item in value.items()}
    if isinstance(value, list):
        return [spell_utc(item) for item in value]
    return value


def read_text(text: str | bytes) -> Written:
    """What was written as JSON, with moments spelled as upstream spells them."""
    return Written(spell_utc(json.loads(text)))


def unfold_order(loaded: dict[str, Any]) -> dict[str, Any]:
    """Give a loaded order the dotted path and the plucked object upstream unfolds."""
    city, coupon = loaded.pop("city"), loaded.pop("coupon")
    return {**loaded, "customer": {"address": {"city": city}}, "coupon": {"code": coupon}}
