"""Dump a collection without an engine: what each field needs is determined once.

For builds without extension modules (PyPy, platforms without a wheel). For every field of every
object, upstream's ``Schema._serialize`` reads ``serialize``, the accessor, the key and the
attribute; :func:`dump` reads them once. If a field overrides one of these methods, its own method
is called for each object.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any

from althaia import seam

Read = Callable[[Any, str, Any], Any]
Convert = Callable[..., Any]
Resolved = tuple[str, str, "str | None", Any, "Read | None", Convert]
"""The key in the result, the name of the field, the attribute to read (None: no value is read), the
default, the function that reads (None: ``field.serialize``) and the function that converts."""


FEWEST = 6
"""From this many objects on it is faster (measured: 4 to 5 on CPython 3.11)."""


PLAIN = ("attribute", "data_key", "dump_default")
"""Attributes of a field that must be in its instance dictionary: reading them runs no code."""


REPLACED = frozenset(
    {
        "schema.Schema._serialize",
        "schema.Schema.get_attribute",
        "fields.Field.get_value",
        "fields.Field.serialize",
        "utils._get_value_for_key",
        "utils.get_value",
    }
)
"""The functions of upstream that :func:`dump` replaces, as the engine's ``run.unplanned`` does."""


def is_known() -> bool:
    """Return whether these functions do, in the served release, what :func:`dump` does."""
    return REPLACED.isdisjoint(seam.unknown_functions()) and REPLACED.isdisjoint(seam.variants())


def dump(schema: Any, objects: Any) -> Any:
    """Replace the loop of ``Schema._serialize``: return the dumped objects, or ``DECLINED``.

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
    if not resolved:
        return seam.DECLINED
    loop = _loop(tuple(map(_way, resolved)))
    return loop(objects, schema.dict_class, missing, accessor, resolved)


_HEAD = """\
def loop(objects, make, missing, accessor, resolved):
    {names}, = resolved
    results = []
    for obj in objects:
        result = make()
"""
_VALUE = {
    # Which of Resolved's functions there are: the field's own `serialize`, or what that calls.
    "own": "        value = convert{i}(name{i}, obj, accessor=accessor)\n",
    "made": "        value = convert{i}(None, name{i}, obj)\n",
    "read": """\
        value = read{i}(obj, attribute{i}, missing)
        if value is missing:
            value = default{i}() if callable(default{i}) else default{i}
        if value is not missing:
            value = convert{i}(value, name{i}, obj)
""",
}
_STORE = """\
        if value is not missing:
            result[key{i}] = value
"""
_TAIL = """\
        results.append(result)
    return results
"""
_NAMES = "(key{i}, name{i}, attribute{i}, default{i}, read{i}, convert{i})"


@cache
def _loop(ways: tuple[str, ...]) -> Callable[..., list[Any]]:
    """Return a loop over objects with a place of its own for each field.

    PyPy's compiler follows the calls of one place. If all fields shared one, it would follow the
    first field's and leave the others' to the interpreter: that takes up to twice as long.
    """
    fields = range(len(ways))
    lines = [_HEAD.format(names=", ".join(_NAMES.format(i=i) for i in fields))]
    lines += [(_VALUE[way] + _STORE).format(i=i) for i, way in zip(fields, ways, strict=True)]
    defined: dict[str, Any] = {}
    exec(compile("".join([*lines, _TAIL]), "<althaia.collection>", "exec"), defined)
    loop: Callable[..., list[Any]] = defined["loop"]
    return loop


def _way(resolved: Resolved) -> str:
    """Return the name in ``_VALUE`` of the way in which a field gets its value."""
    _, _, attribute, _, read, _ = resolved
    return "own" if read is None else "made" if attribute is None else "read"


def _is_ordinary(schema: Any) -> bool:
    """Return whether reading what a dump needs from a schema runs no user code."""
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
        # In marshmallow 3 `dict_class` is a property.
        and (isinstance(cls.dict_class, type) or cls.dict_class is base.__dict__["dict_class"])
    )


def _parts(instance: Any) -> tuple[Any, Any]:
    """Return the class of an instance and its dictionary, or None if it has no dictionary."""
    try:
        return type(instance), vars(instance)
    except TypeError:
        return type(instance), None


def _defined(cls: type, name: str) -> object:
    """Return a class attribute as a base defines it, without binding it."""
    return next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)


def _knows_missing(missing: object) -> bool:
    """Return whether ``missing`` is unchanged in upstream's modules."""
    modules = seam.modules
    return (
        modules["fields"].get("missing_") is missing and modules["schema"].get("missing") is missing
    )


def _get_value(schema: Any) -> Read | None:
    """Return ``utils._get_value_for_key`` if the schema reads attributes by it, else None."""
    modules, defined = seam.modules, seam.defined
    found: Read | None = defined["utils"].get("_get_value_for_key")
    ordinary = (
        found is not None  # A release may have it elsewhere.
        and _is_upstreams(schema, vars(schema), defined["schema"]["Schema"], "get_attribute")
        and modules["schema"].get("get_value") is defined["utils"].get("get_value")
        and modules["utils"].get("_get_value_for_key") is found
    )
    return found if ordinary else None


def _resolve(accessor: Read, read: Read | None, name: str, field: Any) -> Resolved | None:
    """Determine what a field needs for every object of a call; None if upstream's code must run."""
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
    """Return whether these methods of an instance are those that marshmallow defined on
    ``owner``."""
    cls, pristine = type(instance), seam.pristine[owner]
    return all(name not in own and getattr(cls, name, None) is pristine[name] for name in names)
