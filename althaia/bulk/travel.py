"""Sends schemas to other processes: by name if the name leads back to them, else by value.

Plans are never sent: neither a name nor a class pickled by ``cloudpickle`` contains any.
"""

from __future__ import annotations

import io
import pickle
from contextlib import suppress
from typing import Any

from althaia.bulk.pieces import BulkError
from althaia.trust.nested import schema_classes


def pack(schema: Any) -> bytes:
    """A schema class or instance as bytes for :func:`unpack` in another process.

    A class that its module's name leads to goes as that name. Everything else, such as a class
    of ``__main__`` or one that ``from_dict`` made, goes by value. With it go the classes that its
    fields nest by a name, which marshmallow knows only once their modules are imported.

    :raises BulkError: by value is the only way, and ``cloudpickle`` is not installed or fails
    """
    from marshmallow import class_registry

    cls = schema if isinstance(schema, type) else type(schema)
    nested = reversed(schema_classes(cls, class_registry._registry).items())
    things = [*(each for each, is_named in nested if is_named), schema]
    if all(isinstance(thing, type) and thing.__module__ != "__main__" for thing in things):
        # It fails where the name does not lead to the class.
        with suppress(pickle.PicklingError, AttributeError):
            return pickle.dumps(things)
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
    return pickle.loads(packed)[-1]
