"""``json.dumps`` and ``json.loads``, faster: the same signatures, the same text, the same errors.

For ``Meta.render_module``, for web frameworks and for whoever encodes plain values::

    from althaia import json

    json.dumps({"a": [1, 2.5]}, indent=2)

What cannot be done here goes to the standard library; in a build without compiled modules,
everything.
"""

from __future__ import annotations

try:
    from althaia.sinks.json import dumps
except ModuleNotFoundError as error:
    if error.name != "althaia.sinks.json":
        raise
    from json import dumps

__all__ = ["dumps"]
