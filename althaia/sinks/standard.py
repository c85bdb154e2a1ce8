"""The interpreter's own ``json``: whether it is as it was shipped, and its encoder where ours must
hand a value over.

What differs between releases is read from the release at hand, once, at import.
"""

from __future__ import annotations

import json
import json.encoder
import sys
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any, Final

Namespace = dict[str, Any]

DUMPS: Final = json.dumps
"""What ``json.dumps`` was when this module was imported; takes what the sinks decline."""

INDENTS_IN_PYTHON: Final = sys.version_info < (3, 13)
"""Where ``indent`` is given, this release encodes by generators, which ask more of a value."""

ADDS_NOTES: Final = sys.version_info >= (3, 14)
"""Errors carry a note for each container around the value that could not be encoded."""

_PACKAGE: Namespace = vars(json)
_MODULE: Namespace = vars(json.encoder)
_ENCODER: Final = json.encoder.JSONEncoder


def _shipped_with(function: Any, namespace: Namespace) -> bool:
    return type(function) is FunctionType and function.__globals__ is namespace


def _shipped() -> bool:
    """Whether nobody had patched ``json`` before this module was imported."""
    import _json

    methods = [vars(_ENCODER).get(name) for name in ("__init__", "default", "encode", "iterencode")]
    return (
        _shipped_with(json.dumps, _PACKAGE)
        and _PACKAGE["JSONEncoder"] is _ENCODER
        and _ENCODER.__module__ == "json.encoder"
        and all(_shipped_with(method, _MODULE) for method in methods)
        and _MODULE["c_make_encoder"] is _json.make_encoder
        and _MODULE["encode_basestring"] is _json.encode_basestring
        and _MODULE["encode_basestring_ascii"] is _json.encode_basestring_ascii
        and _shipped_with(_MODULE["_make_iterencode"], _MODULE)
        and (_ENCODER.item_separator, _ENCODER.key_separator) == (", ", ": ")
    )


def _entries() -> tuple[tuple[Namespace, str, Any], ...]:
    """The names that ``json.dumps`` goes by, with what they stand for."""
    package = ("JSONEncoder", "_default_encoder")
    module = (
        "INFINITY",
        "_make_iterencode",
        "c_make_encoder",
        "encode_basestring",
        "encode_basestring_ascii",
    )
    return (
        *((_PACKAGE, name, _PACKAGE.get(name)) for name in package),
        *((_MODULE, name, _MODULE.get(name)) for name in module),
    )


SHIPPED: Final = _shipped()
ENTRIES: Final = _entries()
ENCODER: Final = _ENCODER
STATE: Namespace = _PACKAGE["_default_encoder"].__dict__
"""The attributes of the encoder that ``json.dumps`` uses where it is given no options."""
STATE_SHIPPED: Final = dict(STATE)


def unserializable(value: Any) -> Any:
    """What stands for ``default`` where there is none: raises json's own TypeError."""
    return _PLAIN.default(value)


_PLAIN: Final = _ENCODER()


def spell_float(number: Any, allow_nan: bool) -> str:
    """A float, or a float subclass with comparisons of its own, as json's generators spell it."""
    if number != number:
        special = "NaN"
    elif number == json.encoder.INFINITY:
        special = "Infinity"
    elif number == -json.encoder.INFINITY:
        special = "-Infinity"
    else:
        return float.__repr__(number)
    if not allow_nan:
        raise ValueError(f"Out of range float values are not JSON compliant: {number!r}")
    return special


def spell_key(key: Any, allow_nan: bool) -> str:
    """A key that is of no built-in type, as json's generators spell it.

    :raises TypeError: it cannot be a key.
    """
    if isinstance(key, str):
        return key
    if isinstance(key, float):
        return spell_float(key, allow_nan)
    if isinstance(key, int):
        return int.__repr__(key)
    raise TypeError(f"keys must be str, int, float, bool or None, not {key.__class__.__name__}")


def spell(ensure_ascii: bool) -> Callable[[str], str]:
    """The interpreter's function from text to JSON text."""
    if ensure_ascii:
        return json.encoder.encode_basestring_ascii
    return json.encoder.encode_basestring


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
    """One value inside others, by the interpreter's own encoder.

    :param level: how many containers it is in, for the indentation.
    :param markers: these containers by identity, so that circular references are found.
    :raises Exception: whatever the encoder, or ``default``, raises.
    """
    item_separator, key_separator = separators
    make: Any
    if indent is not None and INDENTS_IN_PYTHON:
        make, how = _MODULE["_make_iterencode"], {"_one_shot": True}
        floats: tuple[Any, ...] = (lambda number: spell_float(number, allow_nan),)
    else:
        make, how = _MODULE["c_make_encoder"], {}
        floats = ()
    encoder = make(
        markers, default, spell(ensure_ascii), indent, *floats,
        key_separator, item_separator, sort_keys, False, *([] if floats else [allow_nan]), **how,
    )  # fmt: skip
    chunks: Iterable[str] = encoder(value, level)
    return "".join(chunks)
