"""``package.module:Name`` on the command line -> the object it names."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class TargetError(Exception):
    """The words on the command line name nothing."""


def schema(text: str) -> Any:
    """Return the schema that ``text`` names; an instance if it names a class.

    :raises TargetError: it names none.
    """
    found = resolve(text)
    instance = found() if isinstance(found, type) else found
    if not (hasattr(instance, "dump_fields") and hasattr(instance, "load_fields")):
        raise TargetError(f"{text} is {found!r}, which is no marshmallow schema")
    return instance


def resolve(text: str) -> Any:
    """Return the object that ``text`` names.

    An error inside the module that is imported is the module's own and passes through.

    :param text: ``package.module:Name`` or ``package.module:Name.inner``
    :raises TargetError: the form is another, or there is no such module or attribute.

    >>> resolve("os.path:join")
    <function join at ...>
    """
    module_name, colon, path = text.partition(":")
    if not (module_name and colon and path):
        raise TargetError(f"{text!r} is not of the form package.module:Name")
    try:
        found: Any = import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise
        raise TargetError(f"there is no module {error.name!r} (looked for {text!r})") from None
    for name in path.split("."):
        try:
            found = getattr(found, name)
        except AttributeError:
            raise TargetError(
                f"{found!r} has no attribute {name!r} (looked for {text!r})"
            ) from None
    return found
