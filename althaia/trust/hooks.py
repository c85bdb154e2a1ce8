"""Put functions before the engine's in the seam while something is watched; take them away again.

A *layer* is asked once for each of the seam's functions: it is given the function's name and the
function that runs below it, and returns one that runs instead, or None. Where there are no layers,
the seam holds the engine's own functions and a call costs what it always costs.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from typing import Any, Final

from althaia import seam

Hook = Callable[..., Any]
Layer = Callable[[str, Hook], Hook | None]

NAMES: Final = (
    "construct",
    "dump",
    "dumps",
    "dump_bytes",
    "serialize",
    "load",
    "loads",
    "deserialize",
)

_lock = RLock()
_layers: list[tuple[int, Layer]] = []
_at_once: bool | None = None
_engines: dict[str, Hook] = {}
"""The engine's own functions; empty until it is connected."""


def put(layer: Layer, height: int) -> None:
    """Let a layer run from now on, or from when the engine is loaded.

    :param height: layers of greater height run around those of smaller height.
    """
    with _lock:
        _layers.append((height, layer))
        _layers.sort(key=lambda entry: entry[0])
    # Before marshmallow there is nothing to load it for; it asks for the layers when it is loaded.
    if not _engines and seam.modules:
        seam.load_engine()
    connected()


def take(layer: Layer) -> None:
    """Take a layer away; do nothing where it is not there."""
    with _lock:
        # By equality: a bound method is another object each time it is looked up.
        _layers[:] = [entry for entry in _layers if entry[1] != layer]
        _rebuild()


def connected() -> None:
    """The engine may have put its functions into the seam: put the layers around them."""
    with _lock:
        if not _engines:
            _engines.update(_engine_functions())
        if _engines and _at_once is not None:
            from althaia.engine import planner

            planner.build_at_once(_at_once)
        _rebuild()


def plan_at_once(on: bool = True) -> None:
    """Let each plan be built at its schema's first use, from when the engine is loaded on."""
    global _at_once
    with _lock:
        _at_once = on
    connected()


def _engine_functions() -> dict[str, Hook]:
    # A function of the seam's own asks for the engine: around it there is nothing to watch.
    own = {*seam._OWN.values(), seam._declined, seam._refused, seam._not_made}
    found = {name: getattr(seam, name) for name in NAMES}
    return {name: hook for name, hook in found.items() if hook not in own}


def _rebuild() -> None:
    for name, engines in _engines.items():
        hook = engines
        for _, layer in _layers:
            hook = layer(name, hook) or hook
        setattr(seam, name, hook)
