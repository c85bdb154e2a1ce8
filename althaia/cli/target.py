"""``package.module:Name`` on the command line -> the object it names."""

import sys
import traceback
from collections.abc import Callable
from contextlib import redirect_stdout
from importlib import import_module
from operator import attrgetter
from types import ModuleType
from typing import Any, TypeVar

from althaia.cli import CommandError
from althaia.engine.explain import instance_of
from althaia.switch.redirect import REFUSALS

_T = TypeVar("_T")


def schema(text: str) -> Any:
    """Return the schema that ``text`` names; an instance if it names a class.

    :raises CommandError: it names none, or a class that cannot be made without arguments.
    """
    found = resolve(text)
    try:
        return instance_of(found)
    except TypeError as error:
        raise CommandError(f"{text}: {error}") from error


def resolve(text: str) -> Any:
    """Return the object that ``text`` names.

    An error inside the module that is imported is the module's own and passes through.

    :param text: ``package.module:Name`` or ``package.module:Name.inner``
    :raises CommandError: the form is another, or there is no such module or attribute.

    >>> resolve("os.path:join")
    <function join at ...>
    """
    module_name, colon, path = text.partition(":")
    if not (module_name and colon and path):
        raise CommandError(f"{text!r} is not of the form package.module:Name")
    found = imported(module_name)
    try:
        return attrgetter(path)(found)
    except AttributeError as error:
        raise CommandError(f"{error} (looked for {text!r})") from None


def imported(name: str) -> ModuleType:
    """Import a module and return it.

    An error inside the module is the module's own and passes through.

    :raises CommandError: there is no such module
    """
    if "/" in name or name.startswith("."):
        raise CommandError(f"{name!r} is no name of a module: write package.module, not a path")
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        sought = "" if error.name == name else f" (looked for {name!r})"
        parent, _, last = name.rpartition(".")
        meant = hasattr(sys.modules.get(parent), last)
        hint = f"; did you mean {parent}:{last}?" if meant else ""
        raise CommandError(f"there is no module {error.name!r}{sought}{hint}") from None


def asked(what: str, ask: Callable[[], _T]) -> _T:
    """Return what code of the user gives. What it prints goes to standard error.

    :param what: what is imported or used, for the message
    :raises CommandError: it raised something, :class:`SystemExit` included
    """
    try:
        with redirect_stdout(sys.stderr):
            return ask()
    except (Exception, SystemExit) as error:
        raise CommandError(failure(what, error)) from error


def failure(what: str, error: BaseException) -> str:
    """Return one line about an exception that importing or using the user's code raised: its class,
    the first line of its message, and the file and line of the user's code that raised it.

    :param what: what was imported or used: ``shop.schemas:Order``
    """
    if isinstance(error, (CommandError, *REFUSALS)):
        return str(error)
    kind = f"{type(error).__module__}.{type(error).__qualname__}".removeprefix("builtins.")
    said = str(error).strip().partition("\n")[0]
    return f"{what} raised {f'{kind}: {said}' if said else kind} ({_place(error)})"


def _place(error: BaseException) -> str:
    """Return the innermost file and line of the user's own code, or else of any code."""
    if isinstance(error, SyntaxError) and error.filename and not error.filename.startswith("<"):
        return f"{error.filename}, line {error.lineno}"
    from althaia.trust.profile import is_own

    frames = traceback.extract_tb(error.__traceback__)[::-1]
    frame = next((frame for frame in frames if is_own(frame.filename)), frames[0])
    return f"{frame.filename}, line {frame.lineno}"
