"""The ``ALTHAIA_…`` variables of the environment, as one frozen object.

Read at interpreter start, so without dataclasses and typing, which cost more to import
than the rest of the package.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import NoReturn

_YES = ("1", "true", "yes", "on")
_NO = ("0", "false", "no", "off")
_ON = ("compiled", "plans")
"""Flags that are on where their variables are not set."""


class ConfigError(ValueError):
    """An environment variable has an invalid value."""


class Settings:
    """What the variables of an environment ask for. Frozen; :func:`settings` has the process's.

    :raises ConfigError: a variable has an invalid value.

    >>> Settings({"ALTHAIA_PLANS": "0"}).plans
    False
    """

    __slots__ = (
        "compare",
        "compiled",
        "disable",
        "gc",
        "log",
        "notes",
        "patch",
        "plans",
        "require_compiled",
        "strict",
    )

    patch: bool
    """``ALTHAIA_PATCH``: redirect marshmallow at interpreter start."""
    disable: bool
    """``ALTHAIA_DISABLE``: never redirect, not even by ``althaia.patch()``."""
    require_compiled: bool
    """``ALTHAIA_REQUIRE_COMPILED``: importing an uncompiled copy is an error."""
    compiled: bool
    """``ALTHAIA_COMPILED``: serve the compiled copy if it was made from the installed release (the
    default)."""
    plans: bool
    """``ALTHAIA_PLANS``: dump and load by plans (the default)."""
    strict: bool
    """``ALTHAIA_STRICT``: a schema, or a field of upstream's own, without a plan is an error."""
    compare: float
    """``ALTHAIA_COMPARE``: the share of calls that upstream's own code runs too."""
    log: bool
    """``ALTHAIA_LOG``: log once for each schema, on the logger ``althaia``, what has no plan."""
    notes: bool
    """``ALTHAIA_NOTES``: add a note with the field to an exception that leaves a plan."""
    gc: str
    """``ALTHAIA_GC``: ``pause`` where the garbage collector is off during large dumps, else ""."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        put = object.__setattr__
        for name in self.__slots__:
            variable = f"ALTHAIA_{name.upper()}"
            if name == "compare":
                put(self, name, _share(environ, variable))
            elif name == "gc":
                put(self, name, _collector(environ, variable))
            else:
                put(self, name, _flag(environ, variable, default=name in _ON))

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(
            f"althaia's settings are read from the environment once and cannot be changed "
            f"(tried to set {name!r}); set ALTHAIA_{name.upper()} before the process starts"
        )

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"althaia's settings cannot be changed (tried to delete {name!r})")

    def as_dict(self) -> dict[str, bool | float | str]:
        """Return the settings by name."""
        return {name: getattr(self, name) for name in sorted(self.__slots__)}

    def __repr__(self) -> str:
        return f"Settings({', '.join(f'{k}={v}' for k, v in self.as_dict().items())})"


def settings() -> Settings:
    """Return the settings of this process, from its environment at the first call.

    :raises ConfigError: a variable has an invalid value.
    """
    global _settings
    if _settings is None:
        _settings = Settings(os.environ)
    return _settings


def is_no(text: str) -> bool:
    """Return whether this value, which may be invalid, means "off".

    >>> is_no(""), is_no("off"), is_no("offf")
    (True, True, False)
    """
    return text.strip().lower() in ("", *_NO)


def _flag(environ: Mapping[str, str], name: str, *, default: bool) -> bool:
    text = environ.get(name, "").strip().lower()
    if not text:
        return default
    if text in _YES:
        return True
    if text in _NO:
        return False
    raise ConfigError(
        f"the environment variable {name} is {environ[name]!r}, which is neither yes "
        f"({', '.join(_YES)}) nor no ({', '.join(_NO)}): change it or unset it"
    )


def _share(environ: Mapping[str, str], name: str) -> float:
    text = environ.get(name, "").strip().lower()
    if text in ("", *_NO):
        return 0.0
    try:
        share = 1.0 if text in _YES else float(text)
    except ValueError:
        share = -1.0
    if 0 <= share <= 1:
        return share
    raise ConfigError(
        f"the environment variable {name} is {environ[name]!r}, which is no share of the calls, "
        "from 0 to 1 (0.01 is one in a hundred): change it or unset it"
    )


def _collector(environ: Mapping[str, str], name: str) -> str:
    text = environ.get(name, "").strip().lower()
    if text in ("", *_NO):
        return ""
    if text == "pause":
        return text
    raise ConfigError(
        f"the environment variable {name} is {environ[name]!r}, which is neither pause nor no "
        f"({', '.join(_NO)}): change it or unset it"
    )


_settings: Settings | None = None
