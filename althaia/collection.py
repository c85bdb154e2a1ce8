"""Dump a collection without an engine: what each field needs is worked out once.

For builds without extension modules (PyPy, platforms without a wheel). Upstream's
``Schema._serialize`` asks every field of every object for its ``serialize``, its accessor, its key
and its attribute; :func:`dump` asks once. A field that overrides one of these methods is asked for
each object, by its own method.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from althaia import seam

Read = Callable[[Any, str, Any], Any]
Convert = Callable[..., Any]
Resolved = tuple[str, str, "str | None", Any, "Read | None", Convert]
"""Key in the result, name of the field, attribute to read (None: no value is read), default,
how it is read (None: by ``field.serialize``) and how it is converted."""


FEWEST = 6
"""Objects that repay working out what their fields need (measured: 4 to 5 on CPython 3.11)."""


PLAIN = ("attribute", "data_key", "dump_default")
"""Attributes of a field that have to stand in its dictionary, where reading them runs no code."""


def dump(schema: Any, objects: Any) -> Any:
    """Stand for the loop of ``Schema._serialize``: the list of dumped objects, or ``DECLINED``.

    :param schema: a schema instance.
    :param objects: the collection that is dumped; not None.
    """
    if type(objects) in (list, tuple) and len(objects) < FEWEST:
        return seam.DECLINED
    missing = seam.defined["schema"]["missing"]
    if not _is_ordinary(schema) or not _knows_missing(missing):
        return seam.DECLINED
    accessor = schema.get_attribute
    read = _get_value(schema)
    resolved = []
    for name, field in schema.dump_fields.items():
        found = _resolve(accessor, read, name, field)
        if found is None:
            return seam.DECLINED
        resolved.append(found)
    make = schema.dict_class
    return [_dump(each, make(), resolved, accessor, missing) for each in objects]


def _dump(obj: Any, result: Any, resolved: list[Resolved], accessor: Read, missing: object) -> Any:
    """Dump one object into an empty dictionary."""
    for key, name, attribute, default, read, convert in resolved:
        if read is None:
            value = convert(name, obj, accessor=accessor)
        elif attribute is None:
            value = convert(None, name, obj)
        else:
            value = read(obj, attribute, missing)
            if value is missing:
                value = default() if callable(default) else default
            if value is not missing:
                value = convert(value, name, obj)
        if value is not missing:
            result[key] = value
    return result


def _is_ordinary(schema: Any) -> bool:
    """Whether reading what a dump needs of a schema runs no code of the user's."""
    base = seam.defined["schema"]["Schema"]
    cls, own = _parts(schema)
    return (
        type(own) is dict
        and cls.__getattribute__ is object.__getattribute__
        and _is_upstreams(schema, own, base, "_serialize")
        and getattr(cls, "dump_fields", None) is None
        and isinstance(own.get("dump_fields"), dict)
        and type(_defined(cls, "get_attribute")) is FunctionType
        and not {"get_attribute", "dict_class"} & own.keys()
        # A property of upstream's in marshmallow 3.
        and (isinstance(cls.dict_class, type) or cls.dict_class is base.__dict__["dict_class"])
    )


def _parts(instance: Any) -> tuple[Any, Any]:
    """The class of an instance and its dictionary; None where it has none of its own."""
    try:
        return type(instance), vars(instance)
    except TypeError:
        return type(instance), None


def _defined(cls: type, name: str) -> object:
    """A class attribute as a base defines it, whatever it is bound to."""
    return next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)


def _knows_missing(missing: object) -> bool:
    """Whether upstream's modules still call the same object missing."""
    modules = seam.modules
    return (
        modules["fields"].get("missing_") is missing and modules["schema"].get("missing") is missing
    )


def _get_value(schema: Any) -> Read | None:
    """``utils._get_value_for_key`` where the schema reads plain attributes so, else None."""
    modules, defined = seam.modules, seam.defined
    found: Read = defined["utils"]["_get_value_for_key"]
    ordinary = (
        _is_upstreams(schema, vars(schema), defined["schema"]["Schema"], "get_attribute")
        and modules["schema"].get("get_value") is defined["utils"]["get_value"]
        and modules["utils"].get("_get_value_for_key") is found
    )
    return found if ordinary else None


def _resolve(accessor: Read, read: Read | None, name: str, field: Any) -> Resolved | None:
    """Work out what a field needs for every object of a call; None: upstream has to ask it."""
    base = seam.defined["fields"]["Field"]
    if not isinstance(field, base):
        return None
    cls, own = _parts(field)
    check = getattr(cls, "_CHECK_ATTRIBUTE", None)
    if (
        type(check) is not bool
        or type(own) is not dict
        or cls.__getattribute__ is not object.__getattribute__
        or "_CHECK_ATTRIBUTE" in own
        or any(each not in own or hasattr(cls, each) for each in PLAIN)
    ):
        return None
    key = name if own["data_key"] is None else own["data_key"]
    if not _is_upstreams(field, own, base, "serialize", "get_value"):
        return key, name, None, None, None, field.serialize
    if not check:
        return key, name, None, None, accessor, field._serialize
    attribute = name if own["attribute"] is None else own["attribute"]
    if type(attribute) is not str:
        return None
    if read is None or "." in attribute:
        read = accessor
    return key, name, attribute, own["dump_default"], read, field._serialize


def _is_upstreams(instance: Any, own: dict[str, Any], owner: Any, *names: str) -> bool:
    """Whether these methods of an instance are those that marshmallow defined on ``owner``."""
    cls, pristine = type(instance), seam.pristine[owner]
    return all(name not in own and getattr(cls, name, None) is pristine[name] for name in names)
