"""What unittest.mock and pytest-mock take for a function while a test suite runs on our copy.

Both look for ``types.FunctionType`` to know that a class gives ``self`` to an attribute, and that
its signature is to be checked. Compiled functions are of another type.
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
    """Stands in a tuple of types for the compiled functions of marshmallow.

    By name, because the type is there only once marshmallow is, and importing it is for the test
    suite to do.
    """


class _Inspect(ModuleType):
    """The module ``inspect``, to which compiled functions of marshmallow are functions."""

    def __init__(self) -> None:
        super().__init__(inspect.__name__, inspect.__doc__)

    def __getattr__(self, name: str) -> Any:
        return getattr(inspect, name)

    @staticmethod
    def isfunction(value: object) -> bool:
        return inspect.isfunction(value) or is_compiled_function(value)


def is_compiled_function(value: object) -> bool:
    """Whether ``value`` is a function of marshmallow's or of ours that Cython has compiled."""
    if type(value).__name__ != _COMPILED:
        return False
    package = str(getattr(value, "__module__", "")).partition(".")[0]
    return package in _OURS


def teach() -> None:
    """Let ``autospec=True``, ``create_autospec`` and ``mocker.spy`` know compiled functions."""
    types: tuple[type, ...] = mock.FunctionTypes  # type: ignore[attr-defined]
    if CompiledFunction not in types:
        mock.FunctionTypes = (*types, CompiledFunction)  # type: ignore[attr-defined]
    plugin = sys.modules.get("pytest_mock.plugin")
    if plugin is not None and plugin.inspect is inspect:
        plugin.inspect = _Inspect()  # type: ignore[attr-defined]


def forget() -> None:
    """Put back what :func:`teach` replaced."""
    types: tuple[type, ...] = mock.FunctionTypes  # type: ignore[attr-defined]
    mock.FunctionTypes = tuple(  # type: ignore[attr-defined]
        kind for kind in types if kind is not CompiledFunction
    )
    plugin = sys.modules.get("pytest_mock.plugin")
    if plugin is not None and isinstance(plugin.inspect, _Inspect):
        plugin.inspect = inspect  # type: ignore[attr-defined]
