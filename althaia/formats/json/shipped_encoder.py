"""Calls the interpreter's own JSON encoder, for values that ours does not encode."""

from __future__ import annotations

import json as _json
from collections.abc import Callable
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


def encode(
    value: Any,
    markers: dict[int, Any],
    default: Callable[[Any], Any],
    *,
    ensure_ascii: bool,
    allow_nan: bool,
    sort_keys: bool,
    separators: tuple[str, str],
) -> str:
    """Encode one value, inside others, by the interpreter's own encoder.

    :param markers: these containers by identity, to find circular references.
    :raises Exception: whatever the encoder, or ``default``, raises.
    """
    item_separator, key_separator = separators
    module: Any = json.encoder
    quote = module.encode_basestring_ascii if ensure_ascii else module.encode_basestring
    encoder = module.c_make_encoder(
        markers, default, quote, None, key_separator, item_separator, sort_keys, False, allow_nan
    )
    return "".join(encoder(value, 0))
