"""Lets unittest.mock and pytest-mock recognize compiled functions in a test suite on our copy.

Both test for ``types.FunctionType`` to determine that a class passes ``self`` to an attribute and
that its signature must be checked. Compiled functions are of another type.
"""

import inspect
import sys
from contextlib import suppress
from importlib import import_module
from types import SimpleNamespace
from unittest import mock

COMPILED: tuple[type, ...] = ()
"""The type of compiled functions, which a pure build has not."""

# In a pure build the folder of that name is a package without code.
with suppress(ImportError, AttributeError):
    COMPILED = (type(import_module("althaia.engine.plan").features),)


def _is_function(value: object) -> bool:
    return inspect.isfunction(value) or isinstance(value, COMPILED)


def teach() -> None:
    """Let ``autospec=True``, ``create_autospec`` and ``mocker.spy`` accept compiled functions."""
    types: tuple[type, ...] = mock.FunctionTypes  # type: ignore[attr-defined]
    mock.FunctionTypes = tuple(dict.fromkeys((*types, *COMPILED)))  # type: ignore[attr-defined]
    plugin = sys.modules.get("pytest_mock.plugin")
    if plugin is not None and plugin.inspect is inspect:
        known = {**vars(inspect), "isfunction": _is_function}
        plugin.inspect = SimpleNamespace(**known)  # type: ignore[attr-defined]
