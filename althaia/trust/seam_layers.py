"""Wraps the engine's functions in the seam, and removes the wrappers again.

A *layer* is a function that is called once for each of the seam's functions. It gets the name of
the function and the function to wrap. It returns the wrapper, or None. Without layers the seam
contains the engine's own functions, so that calls cost nothing more.
"""

from collections.abc import Callable
from threading import RLock
from typing import Any

from althaia import seam

Hook = Callable[..., Any]
Layer = Callable[[str, Hook], Hook | None]

_INIT = ("only", "exclude", "many", "load_only", "dump_only", "partial", "unknown", "context")
"""The parameters of upstream's ``__init__`` in the order of the seam's."""
_CALL = ("many", "partial", "unknown", "postprocess")
"""The same of the other methods, which take the first ones of these behind the data."""
METHODS = {"serialize": "_serialize", "load": "_do_load"}
"""Those that have another name than the seam's function."""

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
            for name, own in seam._OWN.items():
                hook = getattr(seam, name)
                # The seam's own functions only load the engine or decline: do not wrap them.
                if hook is not own:
                    _engines[name] = hook
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


def _rebuild() -> None:
    for name, engines in _engines.items():
        hook = engines
        for layer in _layers:
            hook = layer(name, hook) or hook
        setattr(seam, name, hook)


def run_upstream(name: str, schema: Any, args: tuple[Any, ...]) -> Any:
    """Call upstream's method from its first statement on, with the arguments of the seam's hook."""
    own = seam.pristine[seam.defined["schema"]["Schema"]]
    if name == "construct":
        new = object.__new__(type(schema))
        return own["__init__"](new, **dict(zip(_INIT, args, strict=False)))
    data, *given = args
    if name == "dumps":
        positional, many, options, *as_bytes = given
        if any(as_bytes):
            return schema.dumps(data, many=many, **options).encode()
        return own["dumps"](schema, data, *positional, many=many, **options)
    options = given.pop() if name == "loads" else {}
    options = dict(zip(_CALL, given, strict=False)) | options
    return own[METHODS.get(name, name)](schema, data, **options)
