"""Sends schemas to other processes: by name if the name leads back to them, else by value.

Plans are never sent: neither a name nor a class pickled by ``cloudpickle`` contains any.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from althaia.bulk.pieces import BulkError


def pack(schema: Any) -> bytes:
    """A schema class or instance as bytes for :func:`unpack` in another process.

    A class that its module's name leads to goes as that name. Everything else, such as a class
    of ``__main__`` or one that ``from_dict`` made, goes by value. With it go the classes that its
    fields nest by a name, which marshmallow knows only once their modules are imported.

    :raises BulkError: by value is the only way, and ``cloudpickle`` is not installed or fails
    """
    things = [*_nested_by_name(schema), schema]
    if all(isinstance(thing, type) and _found_by_name(thing) for thing in things):
        return pickle.dumps([(thing.__module__, thing.__qualname__) for thing in things])
    try:
        import cloudpickle
    except ImportError as error:
        raise BulkError(
            f"{schema!r} cannot be found by its name in another process; to send it by value "
            "takes cloudpickle: pip install 'althaia[many]', or move it into a module"
        ) from error
    from marshmallow.constants import missing

    class Pickler(cloudpickle.Pickler):  # type: ignore[misc]
        def reducer_override(self, thing: Any) -> Any:
            # marshmallow compares by identity with ``missing``; a copy would be an ordinary value.
            return "missing" if thing is missing else super().reducer_override(thing)

    stream = io.BytesIO()
    try:
        Pickler(stream).dump(things)
    except Exception as error:
        raise BulkError(f"{schema!r} cannot be sent to another process: {error}") from error
    return stream.getvalue()


def unpack(packed: bytes) -> Any:
    """The schema that was packed; imports its module, and those of what it nests by a name."""
    found = [_named(*one) if isinstance(one, tuple) else one for one in pickle.loads(packed)]
    return found[-1]


def _named(module: str, path: str) -> Any:
    found = import_module(module)
    for name in path.split("."):
        found = getattr(found, name)
    return found


def _found_by_name(cls: type) -> bool:
    if cls.__module__ == "__main__":
        return False
    try:
        return _named(cls.__module__, cls.__qualname__) is cls
    except (ImportError, AttributeError):
        return False


def _nested_by_name(schema: Any) -> list[type]:
    """Return the classes that a schema nests by name, at any depth, in the order of first use."""
    from marshmallow import Schema, class_registry, fields
    from marshmallow.exceptions import RegistryError

    waiting, seen, named = [schema], set(), []
    while waiting:
        one = waiting.pop()
        if id(one) in seen or not hasattr(one, "_declared_fields"):
            continue
        seen.add(id(one))
        declared = one.declared_fields if isinstance(one, Schema) else one._declared_fields
        for field in _with_inner(declared.values()):
            if not isinstance(field, fields.Nested):
                continue
            nested: Any = field.nested
            if isinstance(nested, str) and nested != "self":
                try:
                    nested = class_registry.get_class(nested)
                except RegistryError:
                    # The worker fails in the same way and reports it for each record.
                    continue
                named.append(nested)
            waiting.append(nested)
    return named[::-1]


def _with_inner(some: Any) -> Iterator[Any]:
    """Yield fields and the fields inside them."""
    for field in some:
        yield field
        inner = [getattr(field, name, None) for name in ("inner", "key_field", "value_field")]
        inner += getattr(field, "tuple_fields", ())
        yield from _with_inner([one for one in inner if one is not None])
