"""``ALTHAIA_STRICT``: raise an error if one of upstream's own fields gets no step of its own.

For CI: an application that relies on the speed learns which field lost it, and why. A field that
the application itself overrides raises nothing.
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

from althaia import seam

if TYPE_CHECKING:
    from althaia.engine.plan import Upstream


class StrictError(RuntimeError):
    """A schema, or a field of one of upstream's classes, runs upstream's code.

    :param schema_class: the class of the schema.
    :param field: the name of the field; None where the whole schema is left.
    :param reason: why, as :func:`althaia.explain` has it.
    """

    def __init__(self, schema_class: type, field: str | None, reason: str) -> None:
        self.schema_class = schema_class
        self.field = field
        self.reason = reason
        schema = f"{schema_class.__module__}.{schema_class.__qualname__}"
        what = schema if field is None else f"{schema}, field {field!r},"
        super().__init__(
            f"ALTHAIA_STRICT: {what} runs without a plan of its own: {reason}. "
            "Change that or unset ALTHAIA_STRICT; althaia.explain() shows the whole schema"
        )


def check(upstream: Upstream, schema: Any, plan: Any) -> None:
    """Check that each of upstream's own fields has a step of its own.

    :raises StrictError: the plan declines, or a field of upstream's own is left to its own
        method though nobody overrode anything.
    """
    if plan.declined:
        raise StrictError(type(schema), None, plan.declined)
    for name, step in plan.named_steps():
        if step.why and not step.narrow and is_stock(upstream, step.field):
            raise StrictError(type(schema), name, step.why)


def is_stock(upstream: Upstream, field: Any) -> bool:
    """Return whether a field's class is upstream's own and as upstream defined it, and the field
    shadows none of its methods."""
    cls = type(field)
    if cls not in seam.pristine or (hasattr(cls, "OBJ_TYPE") and _time_is_replaced()):
        return False
    upstreams = [base for base in cls.__mro__ if base in seam.pristine]
    return all(seam.has_kept(base, seam.pristine[base]) for base in upstreams) and not any(
        hasattr(type(getattr(cls, name, None)), "__get__") for name in field.__dict__
    )


def _time_is_replaced() -> bool:
    """Return whether a tool, such as freezegun, has replaced classes of the module datetime."""
    return any(cls.__module__ != "datetime" for cls in (dt.date, dt.datetime, dt.time))
