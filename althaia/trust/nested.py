"""Finds the schema classes that a schema class nests."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any


def schema_classes(cls: Any, registry: Mapping[str, Iterable[Any]]) -> dict[Any, bool]:
    """Return a schema class and those nested in it by class, by instance or by name, at any depth;
    each with whether a name leads to it.

    Runs no user code: those that a function returns are left out. Looks at no instance, because
    looking at its fields would complete it.

    :param registry: marshmallow's classes by name
    """
    found: dict[Any, bool] = {}
    waiting: list[tuple[Any, bool]] = [(cls, False)]
    while waiting:
        each, named = waiting.pop()
        if each in found:
            continue
        found[each] = named
        for field in _with_inner(each._declared_fields.values()):
            nested = getattr(field, "nested", None)
            if isinstance(nested, str):
                waiting += [(one, True) for one in registry.get(nested, ())]
            elif hasattr(nested, "_declared_fields"):
                waiting.append((nested if isinstance(nested, type) else type(nested), False))
    return found


def _with_inner(some: Iterable[Any]) -> Iterator[Any]:
    """Yield fields and the fields inside them."""
    for field in some:
        yield field
        inner = [getattr(field, name, None) for name in ("inner", "key_field", "value_field")]
        inner += getattr(field, "tuple_fields", ())
        yield from _with_inner([one for one in inner if one is not None])
