"""Lets unittest.mock and pytest-mock recognize compiled functions in a test suite on our copy.

Both test for ``types.FunctionType`` to determine that a class passes ``self`` to an attribute and
that its signature must be checked. Compiled functions are of another type.
"""

from __future__ import annotations

import inspect
import sys
from types import ModuleType
from typing import Any
from unittest import mock

_COMPILED = "cython_function_or_method"
_OURS = ("marshmallow", "althaia")


class _ByName(type):
    def __instancecheck__(cls, value: object) -> bool:
        return is_compiled_function(value)


class CompiledFunction(metaclass=_ByName):
    """Represents the type of marshmallow's compiled functions in a tuple of types.

    It recognizes the type by its name. The type exists only after marshmallow was imported, which
    is left to the test suite.
    """


class _Inspect(ModuleType):
    """The module ``inspect``, except that it accepts marshmallow's compiled functions."""

    def __init__(self) -> None:
        super().__init__(inspect.__name__, inspect.__doc__)

    def __getattr__(self, name: str) -> Any:
        return getattr(inspect, name)

    @staticmethod
    def isfunction(value: object) -> bool:
        return inspect.isfunction(value) or is_compiled_function(value)


def is_compiled_function(value: object) -> bool:
    """Return whether ``value`` is a compiled function of marshmallow or of althaia."""
    if type(value).__name__ != _COMPILED:
        return False
    package = str(getattr(value, "__module__", "")).partition(".")[0]
    return package in _OURS


def teach() -> None:
    """Let ``autospec=True``, ``create_autospec`` and ``mocker.spy`` accept compiled functions."""
    types: tuple[type, ...] = mock.FunctionTypes  # type: ignore[attr-defined]
    if CompiledFunction not in types:
        mock.FunctionTypes = (*types, CompiledFunction)  # type: ignore[attr-defined]
    plugin = sys.modules.get("pytest_mock.plugin")
    if plugin is not None and plugin.inspect is inspect:
        plugin.inspect = _Inspect()  # type: ignore[attr-defined]


def forget() -> None:
    """Restore what :func:`teach` replaced."""
    types: tuple[type, ...] = mock.FunctionTypes  # type: ignore[attr-defined]
    mock.FunctionTypes = tuple(  # type: ignore[attr-defined]
        kind for kind in types if kind is not CompiledFunction
    )
    plugin = sys.modules.get("pytest_mock.plugin")
    if plugin is not None and isinstance(plugin.inspect, _Inspect):
        plugin.inspect = inspect  # type: ignore[attr-defined]
