"""Wraps the engine's functions in the seam, and removes the wrappers again.

A *layer* is a function that is called once for each of the seam's functions. It gets the name of
the function and the function to wrap. It returns the wrapper, or None. Without layers the seam
contains the engine's own functions, so that calls cost nothing more.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from typing import Any, Final

from althaia import seam

Hook = Callable[..., Any]
Layer = Callable[[str, Hook], Hook | None]

NAMES: Final = tuple(seam._OWN)

_OPTIONS: Final = (
    *("only", "exclude", "many", "load_only", "dump_only", "partial", "unknown", "context"),
)
# How upstream's method is called with the arguments of the seam's hook.
_CALLS: Final[dict[str, Callable[..., Any]]] = {
    "construct": lambda own, schema, *options: own["__init__"](
        object.__new__(type(schema)), **dict(zip(_OPTIONS, options, strict=False))
    ),
    "dump": lambda own, schema, obj, many: own["dump"](schema, obj, many=many),
    "serialize": lambda own, schema, obj, many: own["_serialize"](schema, obj, many=many),
    "dumps": lambda own, schema, obj, args, many, options, as_bytes=False: (
        schema.dumps(obj, many=many, **options).encode()
        if as_bytes
        else own["dumps"](schema, obj, *args, many=many, **options)
    ),
    "load": lambda own, schema, data, many, partial, unknown, postprocess: own["_do_load"](
        schema, data, many=many, partial=partial, unknown=unknown, postprocess=postprocess
    ),
    "loads": lambda own, schema, text, many, partial, unknown, options: own["loads"](
        schema, text, many=many, partial=partial, unknown=unknown, **options
    ),
}

_lock = RLock()
_layers: list[Layer] = []
"""A later one wraps the earlier ones."""
_at_once = False
_engines: dict[str, Hook] = {}
"""The engine's own functions; empty until it is connected."""


def put(layer: Layer, *, innermost: bool = False) -> None:
    """Add a layer, now or when the engine is loaded."""
    with _lock:
        _layers.insert(0 if innermost else len(_layers), layer)
    # Do not load the engine before marshmallow: it installs the layers when it is loaded.
    if not _engines and seam.modules:
        seam.load_engine()
    connected()


def take(layer: Layer) -> None:
    """Remove a layer; do nothing if it was not added."""
    with _lock:
        # By equality: a bound method is a new object each time that it is read.
        _layers[:] = [each for each in _layers if each != layer]
        _rebuild()


def connected() -> None:
    """Wrap the engine's functions by the layers, after the engine was loaded."""
    with _lock:
        if not _engines:
            _engines.update(_engine_functions())
        if _engines and _at_once:
            from althaia.engine.instances import build_at_once

            build_at_once(True)
        _rebuild()


def plan_at_once() -> None:
    """Build each plan at its schema's first use, from the loading of the engine on."""
    global _at_once
    with _lock:
        _at_once = True
    connected()


def _engine_functions() -> dict[str, Hook]:
    # The seam's own functions only load the engine or decline: do not wrap them.
    own = set(seam._OWN.values())
    found = {name: getattr(seam, name) for name in NAMES}
    return {name: hook for name, hook in found.items() if hook not in own}


def _rebuild() -> None:
    for name, engines in _engines.items():
        hook = engines
        for layer in _layers:
            hook = layer(name, hook) or hook
        setattr(seam, name, hook)
    if _engines:
        from althaia.engine.instances import ask_the_seam

        ask_the_seam(bool(_layers))


def run_upstream(name: str, schema: Any, args: tuple[Any, ...]) -> Any:
    """Call upstream's method from its first statement on, with the arguments of the seam's hook."""
    own = seam.pristine[seam.defined["schema"]["Schema"]]
    return _CALLS[name](own, schema, *args)
