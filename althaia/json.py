"""``json.dumps`` and ``json.loads``, faster: the same signatures, the same text, the same values,
the same errors.

For ``Meta.render_module``, for web frameworks and for whoever encodes plain values::

    from althaia import json

    json.loads(json.dumps({"a": [1, 2.5]}, indent=2))

What cannot be done here goes to the standard library; in a build without compiled modules,
everything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from althaia import seam

if TYPE_CHECKING:
    # The same signatures, and compiled functions have none that a type checker reads.
    from json import dumps, loads
else:
    try:
        from althaia.formats.codec import json_dumps as dumps, json_loads as loads
    except ModuleNotFoundError as error:
        if error.name != "althaia.formats.codec":
            raise
        from json import dumps, loads

__all__ = ["dump_bytes", "dumps", "loads"]


def dump_bytes(schema: Any, obj: Any, *, many: bool | None = None, **options: Any) -> bytes:
    """``schema.dumps(obj)`` in UTF-8; without a str in between where the schema goes straight to
    text.

    :param schema: a schema instance.
    :param many: whether ``obj`` is a collection; None: as the schema says.
    :param options: as for ``schema.dumps``.
    :raises UnicodeEncodeError: with ``ensure_ascii=False``, a lone surrogate.

    >>> dump_bytes(UserSchema(), user, ensure_ascii=False)
    b'{"name": "Zo\\xc3\\xab"}'
    """
    ours = seam.modules and isinstance(schema, seam.defined["schema"]["Schema"])
    planned: Any = seam.dumps(schema, obj, (), many, options, True) if ours else seam.DECLINED
    if planned is seam.DECLINED:
        planned = schema.dumps(obj, many=many, **options)
    made: str | bytes = planned
    return made if isinstance(made, bytes) else made.encode()
