"""Say what is wrong with a call in the interpreter's own words.

A compiled function that is called with wrong arguments words its TypeError differently, names
no class and no parameter. Compiled upstream asks here instead, once it knows that the arguments
do not fit, so nothing is paid for calls that do.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from types import CodeType, FunctionType
from typing import Any, Protocol


class Compiled(Protocol):
    """What a compiled function has in common with an interpreted one."""

    __code__: CodeType
    __name__: str
    __qualname__: str
    __defaults__: tuple[Any, ...] | None
    __kwdefaults__: dict[str, Any] | None


def _nothing() -> None:
    return None


def repeat(function: Compiled, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """Make the same call to an interpreted function of the same signature and no body.

    :raises TypeError: the arguments do not fit

    >>> def area(width, *, height): ...
    >>> repeat(area, (), {"height": 1})
    Traceback (most recent call last):
    TypeError: area() missing 1 required positional argument: 'width'
    """
    code = function.__code__
    variadic = code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    count = code.co_argcount + code.co_kwonlyargcount + variadic.bit_count()
    shape = _nothing.__code__.replace(
        co_argcount=code.co_argcount,
        co_posonlyargcount=code.co_posonlyargcount,
        co_kwonlyargcount=code.co_kwonlyargcount,
        co_varnames=code.co_varnames[:count],
        co_nlocals=count,
        co_flags=_nothing.__code__.co_flags | variadic,
        co_name=function.__name__,
        co_qualname=function.__qualname__,
    )
    twin = FunctionType(shape, {}, function.__name__, function.__defaults__)
    twin.__kwdefaults__ = function.__kwdefaults__
    twin(*args, **kwargs)
