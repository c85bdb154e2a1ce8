"""Dump a collection without an engine: what each field needs is determined once.

For builds without extension modules (PyPy, platforms without a wheel). For every field of every
object, upstream's ``Schema._serialize`` reads ``serialize``, the accessor, the key and the
attribute; :func:`dump` reads them once. If a field or the schema overrides one of these methods,
upstream's code dumps the collection.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from althaia import seam

Resolved = tuple[str, str, str, Any, Callable[..., Any], Callable[..., Any]]
"""The key in the result, the name of the field, the attribute to read, the default, the function
that reads and the one that converts."""


FEWEST = 6
"""From this many objects on it is faster (measured: 4 to 5 on CPython 3.11)."""


PLAIN = ("attribute", "data_key", "dump_default")
"""Attributes of a field that must be in its instance dictionary: reading them runs no code."""


READ = (
    ("fields", "missing_"),
    ("schema", "get_value"),
    ("schema", "missing"),
    ("utils", "get_value"),
    ("utils", "_get_value_for_key"),
)
"""Names in upstream's modules whose values are read once for a collection."""


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
    defined, modules = seam.defined, seam.modules
    methods = ("_serialize", "get_attribute", "dict_class")
    if (
        not _is_upstreams(schema, defined["schema"]["Schema"], *methods)
        or hasattr(type(schema), "dump_fields")
        or any(modules[module].get(name) is not defined[module][name] for module, name in READ)
    ):
        return seam.DECLINED
    resolved = [_resolve(name, field) for name, field in schema.dump_fields.items()]
    if not resolved or None in resolved:
        return seam.DECLINED
    missing = defined["schema"]["missing"]
    return _loop(len(resolved))(objects, schema.dict_class, missing, resolved)


_HEAD = """\
def loop(objects, make, missing, resolved):
    {names}, = resolved
    results = []
    for obj in objects:
        result = make()
"""
_FIELD = """\
        value = read{i}(obj, attribute{i}, missing)
        if value is missing:
            value = default{i}() if callable(default{i}) else default{i}
        if value is not missing:
            value = convert{i}(value, name{i}, obj)
        if value is not missing:
            result[key{i}] = value
"""
_TAIL = """\
        results.append(result)
    return results
"""
_NAMES = "(key{i}, name{i}, attribute{i}, default{i}, read{i}, convert{i})"


@cache
def _loop(count: int) -> Callable[..., list[Any]]:
    """Return a loop over objects with a place of its own for each field.

    PyPy's compiler follows the calls of one place. If all fields shared one, it would follow the
    first field's and leave the others' to the interpreter: that takes up to twice as long.
    """
    names = ", ".join(_NAMES.format(i=i) for i in range(count))
    fields = "".join(_FIELD.format(i=i) for i in range(count))
    defined: dict[str, Any] = {}
    text = _HEAD.format(names=names) + fields + _TAIL
    exec(compile(text, "<althaia.collection>", "exec"), defined)
    loop: Callable[..., list[Any]] = defined["loop"]
    return loop


def _resolve(name: str, field: Any) -> Resolved | None:
    """Determine what a field needs for every object of a call; None if upstream's code must run."""
    base = seam.defined["fields"]["Field"]
    if not isinstance(field, base) or not _is_upstreams(field, base, "serialize", "get_value"):
        return None
    own, reads = vars(field), type(field)._CHECK_ATTRIBUTE
    if (
        type(reads) is not bool
        or "_CHECK_ATTRIBUTE" in own
        or any(each not in own or hasattr(type(field), each) for each in PLAIN)
    ):
        return None
    attribute = name if own["attribute"] is None else own["attribute"]
    if type(attribute) is not str:
        return None
    read = seam.defined["utils"]["get_value" if "." in attribute else "_get_value_for_key"]
    key = name if own["data_key"] is None else own["data_key"]
    return key, name, attribute, own["dump_default"], read if reads else _unread, field._serialize


def _unread(obj: Any, attribute: str, missing: Any) -> None:
    """What a field that reads no attribute converts, such as ``Method``."""


def _is_upstreams(instance: Any, owner: Any, *names: str) -> bool:
    """Return whether reading attributes of an instance runs no user code, and these are those that
    marshmallow defined on ``owner``."""
    cls: Any = type(instance)
    pristine = seam.pristine[owner]
    try:
        own = vars(instance)
    except TypeError:  # It has none, or its class has several bases with one.
        return False
    return (
        cls.__getattribute__ is object.__getattribute__
        and type(own) is dict
        and all(name not in own and getattr(cls, name, None) is pristine[name] for name in names)
    )
