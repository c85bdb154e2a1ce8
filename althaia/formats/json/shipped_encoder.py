"""Calls the interpreter's own JSON encoder, for values that ours does not encode."""

from __future__ import annotations

import json as _json
from typing import Any, Final

from althaia import seam

json: Any = seam.defined.get("schema", {}).get("json", _json)
"""marshmallow's own. A program may have replaced ``sys.modules["json"]`` since."""

DUMPS: Final = json.dumps
"""The interpreter's own, which is called if a program has replaced ``json.dumps`` by ours."""


def dumps(*args: Any, **options: Any) -> Any:
    """Call ``json.dumps``, which a program may have replaced."""
    present = json.dumps
    is_ours = getattr(present, "__module__", None) == "althaia.json"
    return (DUMPS if is_ours else present)(*args, **options)


def unserializable(value: Any) -> Any:
    """Raise json's own TypeError; used as ``default`` if there is none."""
    return json.JSONEncoder().default(value)
