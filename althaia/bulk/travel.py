"""Schemas on their way to another process: by name where that leads back to them, else by value.

Plans never travel: neither a name nor what ``cloudpickle`` makes of a class has any.
"""

from __future__ import annotations

import io
import pickle
from importlib import import_module

from althaia.bulk.partitions import BulkError

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any


def pack(schema: Any) -> bytes:
    """A schema class or instance as bytes for :func:`unpack` in another process.

    A class that its module's name leads to goes as that name. Everything else, such as a class
    of ``__main__`` or one that ``from_dict`` made, goes by value.

    :raises BulkError: by value is the only way, and ``cloudpickle`` is not installed or fails
    """
    if isinstance(schema, type) and _found_by_name(schema):
        return pickle.dumps((schema.__module__, schema.__qualname__))
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
            # marshmallow compares with the one object; a copy of it would be a value.
            return "missing" if thing is missing else super().reducer_override(thing)

    stream = io.BytesIO()
    try:
        Pickler(stream).dump(schema)
    except Exception as error:
        raise BulkError(f"{schema!r} cannot be sent to another process: {error}") from error
    return stream.getvalue()


def unpack(packed: bytes) -> Any:
    """The schema that was packed; imports its module."""
    found = pickle.loads(packed)
    if not isinstance(found, tuple):
        return found
    module, path = found
    found = import_module(module)
    for name in path.split("."):
        found = getattr(found, name)
    return found


def _found_by_name(cls: type) -> bool:
    if cls.__module__ == "__main__":
        return False
    try:
        return unpack(pickle.dumps((cls.__module__, cls.__qualname__))) is cls
    except (ImportError, AttributeError):
        return False
