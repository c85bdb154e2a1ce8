"""Dump a collection without an engine: what each field needs is determined once.

For builds without extension modules (PyPy, platforms without a wheel). For every field of every
object, upstream's ``Schema._serialize`` reads ``serialize``, the accessor, the key and the
attribute; :func:`dump` reads them once. If a field or the schema overrides one of these methods,
upstream's code dumps the collection.
"""

from __future__ import annotations

import sys
from typing import Any

from althaia import seam

FEWEST = 6 if sys.implementation.name == "cpython" else 1_000
"""From this many objects on it is faster (CPython 3.11: 4 to 5; PyPy compiles it as it runs)."""

IN_FIELD = ("attribute", "data_key")
"""Attributes that must be in a field's instance dictionary: they are read once for a collection."""

READ = (
    ("fields", "missing_"),
    ("schema", "get_value"),
    ("schema", "missing"),
    ("utils", "get_value"),
)
"""Names in upstream's modules whose values are read once for a collection."""

REPLACED_IN_DUMP = frozenset(
    {
        "schema.Schema._serialize",
        "schema.Schema.get_attribute",
        "fields.Field.get_value",
        "fields.Field.serialize",
    }
)
"""The functions of upstream that :func:`dump` replaces, as the engine's ``run.unplanned`` does."""


def is_known() -> bool:
    """Return whether these functions do, in the served release, what :func:`dump` does."""
    return REPLACED_IN_DUMP.isdisjoint([*seam.unknown, *seam.variants])


def dump(schema: Any, objects: Any) -> Any:
    """Replace the loop of ``Schema._serialize``: return the dumped objects, or ``DECLINED``.

    :param schema: a schema instance.
    :param objects: the collection that is dumped; not None.
    """
    if type(objects) in (list, tuple) and len(objects) < FEWEST:
        return seam.DECLINED
    modules, defined = seam.modules, seam.defined
    if (
        not _is_upstreams(schema, "schema", "Schema", "_serialize", "get_attribute", "dict_class")
        or hasattr(type(schema), "dump_fields")
        or any(modules[m].get(name) is not defined[m].get(name) for m, name in READ)
        or not all(
            _is_upstreams(field, "fields", "Field", "serialize", "get_value")
            and all(name in vars(field) and not hasattr(type(field), name) for name in IN_FIELD)
            for _, field in schema.dump_fields.items()
        )
    ):
        return seam.DECLINED
    missing, get_value = defined["schema"]["missing"], defined["utils"]["get_value"]
    resolved = [
        (
            name if field.data_key is None else field.data_key,
            name,
            name if field.attribute is None else field.attribute,
            field,
        )
        for name, field in schema.dump_fields.items()
    ]
    make, results = schema.dict_class, []
    for obj in objects:
        result = make()
        for key, name, attribute, field in resolved:
            value = get_value(obj, attribute, missing) if field._CHECK_ATTRIBUTE else None
            if value is missing:
                value = field.dump_default
                if callable(value):
                    value = value()
            if value is not missing:
                value = field._serialize(value, name, obj)
            if value is not missing:
                result[key] = value
        results.append(result)
    return results


def _is_upstreams(instance: Any, module: str, owner: str, *names: str) -> bool:
    """Return whether an instance has these attributes of one of upstream's classes, and reading
    them runs no user code: on PyPy a look-up calls the methods of a subclass of dict."""
    actual: Any = type(instance)
    pristine = seam.pristine[seam.defined[module][owner]]
    try:
        own = vars(instance)
    except TypeError:  # Its class has several bases with a dictionary.
        return False
    return (
        type(own) is dict
        and actual.__getattribute__ is object.__getattribute__
        and all(getattr(actual, name, None) is pristine[name] and name not in own for name in names)
    )
