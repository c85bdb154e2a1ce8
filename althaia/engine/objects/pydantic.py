"""pydantic: the fields of models.

Upstream reads ``__getitem__`` of every object. A model's class has a ``__getattr__``, so that this
runs pydantic's Python code for each field. The fields themselves are in the instance dictionary,
and no attribute of the class overrides them.
"""

from __future__ import annotations

import sys

from althaia.engine.objects.known_code import is_known
from althaia.engine.objects.libraries import NoReader
from althaia.engine.objects.object_reader import AttributeReader, Watch

GETATTR = frozenset({"486b43edd8846933", "55ac51ace6e7f237"})
"""``BaseModel.__getattr__`` of 2.8 to 2.11, and of 2.12 to 2.14."""


def readers() -> tuple[AttributeReader, ...]:
    """Return the reader of models; none if they are not imported.

    :raises NoReader: pydantic's code is not known.
    """
    base = getattr(sys.modules.get("pydantic.main"), "BaseModel", None)
    if not isinstance(base, type):
        return ()
    getattr_ = vars(base).get("__getattr__")
    if not is_known(getattr_, GETATTR):
        raise NoReader("the code of BaseModel.__getattr__ is not known")
    try:
        watch = Watch((base, type(base)))
    except ValueError as error:
        raise NoReader(f"its classes cannot be watched: {error}") from error
    return (
        AttributeReader(
            watch, metaclass=type(base), getattr=getattr_, without="__private_attributes__"
        ),
    )
