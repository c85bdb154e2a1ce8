"""SQLModel: models that are pydantic's, and SQLAlchemy's as well where they are tables.

They have pydantic's ``__getattr__`` and a metaclass of their own. The attributes of a table are
SQLAlchemy's descriptors. SQLModel itself defines nothing that takes part in reading an attribute,
which the pydantic reader checks of each class.
"""

from __future__ import annotations

import sys

from althaia.engine.objects import pydantic, sqlalchemy
from althaia.engine.objects.object_reader import Reader


def readers() -> tuple[Reader, ...]:
    """Return the readers of tables and of other models; none if they are not imported.

    :raises NoReader: the code of pydantic or SQLAlchemy is not known.
    """
    model = getattr(sys.modules.get("sqlmodel.main"), "SQLModel", None)
    models = pydantic.readers(model)
    if model is None or not models:
        return ()
    # The first reads both; it rests on what the second watches.
    return (*sqlalchemy.orm_readers(models[0]), *models)
