"""Raise the TypeError of a wrong call with CPython's own message.

The TypeError of a compiled function names neither the class nor the parameter. People read that
message in a traceback, and tests match it (``pytest.raises(TypeError, match="positional
argument")``). Compiled upstream therefore repeats a call here after it has found that the arguments
do not fit. Correct calls cost nothing.
"""

import inspect
from types import FunctionType
from typing import Any


def _nothing() -> None:
    return None


def repeat(function: Any, /, *args: Any, **kwargs: Any) -> None:
    """Make the same call to an interpreted function of the same signature and no body.

    :raises TypeError: the arguments do not fit

    >>> def area(width, *, height): ...
    >>> repeat(area, height=1)
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
    interpreted = FunctionType(shape, {}, function.__name__, function.__defaults__)
    interpreted.__kwdefaults__ = function.__kwdefaults__
    interpreted(*args, **kwargs)
