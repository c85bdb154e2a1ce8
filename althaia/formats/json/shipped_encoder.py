"""Calls the interpreter's own JSON encoder, for values that ours does not encode."""

from __future__ import annotations

import json as _json
import sys
from collections.abc import Callable, Iterable
from typing import Any, Final

from althaia import seam

json: Any = seam.defined.get("schema", {}).get("json", _json)
"""marshmallow's own. A program may have replaced ``sys.modules["json"]`` since."""

INDENTS_IN_PYTHON: Final = sys.version_info < (3, 13)
"""Whether this Python version uses its encoder in Python if ``indent`` is given, not that in C."""

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


def float_text(number: Any, allow_nan: bool) -> str:
    """Return a float as json's encoder in Python writes it."""
    if number - number == 0:
        return float.__repr__(number)
    if not allow_nan:
        raise ValueError(f"Out of range float values are not JSON compliant: {number!r}")
    return "NaN" if number != number else "Infinity" if number > 0 else "-Infinity"


def quoting_function(ensure_ascii: bool) -> Callable[[str], str]:
    """Return the interpreter's function that converts a str to a JSON string."""
    name = "encode_basestring_ascii" if ensure_ascii else "encode_basestring"
    function: Callable[[str], str] = getattr(json.encoder, name)
    return function


def encode(
    value: Any,
    level: int,
    markers: dict[int, Any],
    default: Callable[[Any], Any],
    *,
    ensure_ascii: bool,
    allow_nan: bool,
    sort_keys: bool,
    indent: str | None,
    separators: tuple[str, str],
) -> str:
    """Encode one value, inside others, by the interpreter's own encoder.

    :param level: the number of containers around it, for the indentation.
    :param markers: these containers by identity, to find circular references.
    :raises Exception: whatever the encoder, or ``default``, raises.
    """
    item_separator, key_separator = separators
    module: Any = json.encoder
    make: Any
    if indent is not None and INDENTS_IN_PYTHON:
        make, how = module._make_iterencode, {"_one_shot": True}
        floats: tuple[Any, ...] = (lambda number: float_text(number, allow_nan),)
    else:
        make, how = module.c_make_encoder, {}
        floats = ()
    encoder = make(
        markers, default, quoting_function(ensure_ascii), indent, *floats,
        key_separator, item_separator, sort_keys, False, *([] if floats else [allow_nan]), **how,
    )  # fmt: skip
    chunks: Iterable[str] = encoder(value, level)
    return "".join(chunks)
