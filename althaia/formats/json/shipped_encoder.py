"""The interpreter's own JSON encoder: the check that nobody has patched it, and its functions.

Our encoder passes values to them that it cannot encode itself. What differs between Python versions
is determined once, at import.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from types import FunctionType, ModuleType
from typing import Any, Final

Namespace = dict[str, Any]

INDENTS_IN_PYTHON: Final = sys.version_info < (3, 13)
"""Whether this Python version uses its encoder in Python if ``indent`` is given, not that in C."""

ADDS_NOTES: Final = sys.version_info >= (3, 14)
"""Whether errors get a note for each container around the value that could not be encoded."""

DEFAULTS: Final = {
    "skipkeys": False, "ensure_ascii": True, "check_circular": True, "allow_nan": True,
    "cls": None, "indent": None, "separators": None, "default": None, "sort_keys": False,
}  # fmt: skip
"""The default values of the options of ``json.dumps``."""


_METHODS: Final = ("__init__", "default", "encode", "iterencode")


def _defined_by(function: Any, namespace: Namespace) -> bool:
    """Return whether a function was defined by a module's own source and is not wrapped."""
    return (
        type(function) is FunctionType and function.__globals__ is namespace and not vars(function)
    )


def _shipped(package: Namespace, module: Namespace) -> bool:
    """Return whether ``json`` was not patched before this module was imported."""
    import _json

    encoder, used = module["JSONEncoder"], package["_default_encoder"]
    methods = [vars(encoder).get(name) for name in _METHODS]
    return (
        _defined_by(package["dumps"], package)
        and package["dumps"].__kwdefaults__ == DEFAULTS
        and package["JSONEncoder"] is encoder
        and encoder.__module__ == "json.encoder"
        and all(_defined_by(method, module) for method in methods)
        and module["c_make_encoder"] is _json.make_encoder
        and module["encode_basestring"] is _json.encode_basestring
        and module["encode_basestring_ascii"] is _json.encode_basestring_ascii
        and _defined_by(module["_make_iterencode"], module)
        and (encoder.item_separator, encoder.key_separator) == (", ", ": ")
        and type(used) is encoder
        and vars(used) == vars(encoder())
    )


def _entries(package: Namespace, module: Namespace) -> tuple[tuple[Namespace, str, Any], ...]:
    """Return the global names that ``json.dumps`` uses: namespace, name and value of each."""
    of_package = ("JSONEncoder", "_default_encoder")
    of_module = (
        "INFINITY",
        "_make_iterencode",
        "c_make_encoder",
        "encode_basestring",
        "encode_basestring_ascii",
    )
    return (
        *((package, name, package.get(name)) for name in of_package),
        *((module, name, module.get(name)) for name in of_module),
    )


def _examined() -> tuple[Namespace, Namespace] | None:
    """Return the namespaces of ``json`` and ``json.encoder``; None if they are patched.

    A program may have replaced any part, also in ``sys.modules``, by an object of another kind. Any
    exception here means that ``json`` is patched.
    """
    try:
        import json.encoder

        package, module = vars(json), vars(json.encoder)
        genuine = type(json) is type(json.encoder) is ModuleType
        return (package, module) if genuine and _shipped(package, module) else None
    except Exception:
        return None


_FOUND: Final = _examined()
_PACKAGE: Namespace
_MODULE: Namespace
_PACKAGE, _MODULE = _FOUND or ({}, {})

SHIPPED: Final = _FOUND is not None
"""Whether ``json`` was not patched when this module was imported. If False, only :func:`dumps` may
be used of what follows."""
DUMPS: Final[Any] = _PACKAGE.get("dumps")
"""The interpreter's own ``json.dumps``, or None."""
ENTRIES: Final = _entries(_PACKAGE, _MODULE) if SHIPPED else ()
ENCODER: Final[Any] = _MODULE.get("JSONEncoder", object)
FUNCTIONS: Final[tuple[Any, ...]] = (
    (
        DUMPS,
        _MODULE["_make_iterencode"],
        *(vars(ENCODER)[name] for name in _METHODS),
    )
    if SHIPPED
    else ()
)
"""The Python functions that ``json.dumps`` calls, itself included; at most 8."""
USED: Final[Any] = _PACKAGE.get("_default_encoder")
"""The encoder that ``json.dumps`` uses if it gets no options, or None."""
STATE_SHIPPED: Final[Namespace] = dict(vars(USED)) if SHIPPED else {}


def dumps(*args: Any, **options: Any) -> Any:
    """Call the interpreter's own ``json.dumps``; if it was patched at import, the present one."""
    if DUMPS is not None:
        return DUMPS(*args, **options)
    import json

    return json.dumps(*args, **options)


def unserializable(value: Any) -> Any:
    """Raise json's own TypeError; used as ``default`` if there is none."""
    return ENCODER().default(value)


def spell_float(number: Any, allow_nan: bool) -> str:
    """Return a float as json's encoder in Python writes it. A float subclass may override the
    comparisons that are used here, as there."""
    if number != number:
        special = "NaN"
    elif number == _MODULE["INFINITY"]:
        special = "Infinity"
    elif number == -_MODULE["INFINITY"]:
        special = "-Infinity"
    else:
        return float.__repr__(number)
    if not allow_nan:
        raise ValueError(f"Out of range float values are not JSON compliant: {number!r}")
    return special


def spell_key(key: Any, allow_nan: bool) -> str:
    """Return a key whose type is no built-in one as json's encoder in Python writes it.

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
    """Return the interpreter's function that converts a str to a JSON string."""
    name = "encode_basestring_ascii" if ensure_ascii else "encode_basestring"
    function: Callable[[str], str] = _MODULE[name]
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
