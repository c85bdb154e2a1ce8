"""``json.dumps`` and ``json.loads``, faster: the same signatures, the same text, the same values,
the same errors.

For ``Meta.render_module``, for web frameworks and for whoever encodes plain values::

    from althaia import json

    json.loads(json.dumps({"a": [1, 2.5]}, indent=2))

What cannot be done here goes to the standard library; in a build without compiled modules,
everything.
"""

from __future__ import annotations

try:
    from althaia.sinks.json import dumps
    from althaia.sources.json import loads
except ModuleNotFoundError as error:
    if error.name not in ("althaia.sinks.json", "althaia.sources.json"):
        raise
    from json import dumps, loads

__all__ = ["dumps", "loads"]
