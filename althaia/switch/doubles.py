"""Lets unittest.mock and pytest-mock recognize compiled functions in a test suite on our copy.

Both test for ``types.FunctionType`` to determine that a class passes ``self`` to an attribute and
that its signature must be checked. Compiled functions are of another type.
"""

from __future__ import annotations

import inspect
import sys
from contextlib import suppress
from importlib import import_module
from types import SimpleNamespace
from unittest import mock

with suppress(ImportError):  # A pure build has no compiled functions.
    import_module("althaia.cpython.cython_shared")

COMPILED: tuple[type, ...] = tuple(
    vars(module)["cython_function_or_method"]
    for name, module in sys.modules.copy().items()
    if name.startswith("_cython_")
)
"""The type of compiled functions: Cython keeps it in a module of its own."""


def _is_function(value: object) -> bool:
    return inspect.isfunction(value) or isinstance(value, COMPILED)


# The module ``inspect``, except that it accepts compiled functions.
_INSPECT = SimpleNamespace(**{**vars(inspect), "isfunction": _is_function})


def teach() -> None:
    """Let ``autospec=True``, ``create_autospec`` and ``mocker.spy`` accept compiled functions."""
    types: tuple[type, ...] = mock.FunctionTypes  # type: ignore[attr-defined]
    mock.FunctionTypes = tuple(dict.fromkeys((*types, *COMPILED)))  # type: ignore[attr-defined]
    plugin = sys.modules.get("pytest_mock.plugin")
    if plugin is not None and plugin.inspect is inspect:
        plugin.inspect = _INSPECT  # type: ignore[attr-defined]


def forget() -> None:
    """Restore what :func:`teach` replaced."""
    types: tuple[type, ...] = mock.FunctionTypes  # type: ignore[attr-defined]
    mock.FunctionTypes = tuple(  # type: ignore[attr-defined]
        kind for kind in types if kind not in COMPILED
    )
    plugin = sys.modules.get("pytest_mock.plugin")
    if plugin is not None and plugin.inspect is _INSPECT:
        plugin.inspect = inspect  # type: ignore[attr-defined]
