"""The ``ALTHAIA_…`` variables of the environment, as one object.

Read at interpreter start, so without dataclasses and typing, which cost more to import
than the rest of the package.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_YES = ("1", "true", "yes", "on")
_NO = ("0", "false", "no", "off")
_OF_BUILDS = ("ALTHAIA_PURE_BUILD", "ALTHAIA_UPSTREAM")
"""Variables that only a build from source reads."""


_settings: Settings | None = None


class ConfigError(ValueError):
    """An environment variable has an invalid value."""


class Settings:
    """What the variables of an environment ask for; :func:`settings` has the process's.

    :raises ConfigError: a variable has an invalid value.

    >>> Settings({"ALTHAIA_PLANS": "0"}).plans
    False
    """

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
    compare: float
    """``ALTHAIA_COMPARE``: the share of calls that upstream's own code runs too."""
    compare_file: str
    """``ALTHAIA_COMPARE_FILE``: append each new difference to this file, and each minute what was
    compared, as a line of JSON."""
    log: bool
    """``ALTHAIA_LOG``: log once for each schema, on the logger ``althaia``, what has no plan. Any
    value but no is yes."""
    notes: bool
    """``ALTHAIA_NOTES``: add a note with the field to an exception that leaves a plan. Any value
    but no is yes."""
    unknown: tuple[str, ...]
    """Variables of the environment that begin with ``ALTHAIA_`` and that nothing reads."""

    __slots__ = tuple(__annotations__)

    def __init__(self, environ: Mapping[str, str]) -> None:
        for name, variable in zip(self.__slots__, _names(), strict=False):
            given = environ.get(variable, "")
            try:
                setattr(self, name, _READ.get(name, _flag)(given))
            except ValueError as error:
                raise ConfigError(
                    f"the environment variable {variable} is {given!r}, which is {error}: change "
                    "it or unset it"
                ) from None
        mine = {name for name in environ if name.startswith("ALTHAIA_")}
        self.unknown = tuple(sorted(mine.difference(_names(), _OF_BUILDS)))

    def as_dict(self) -> dict[str, bool | float | str]:
        """Return the settings by name."""
        return {name: getattr(self, name) for name in sorted(self.__slots__[:-1])}


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


def _is_yes(text: str) -> bool:
    return text.strip().lower() in _YES


def _flag(text: str) -> bool:
    if _is_yes(text) or is_no(text):
        return _is_yes(text)
    raise ValueError(f"neither yes ({', '.join(_YES)}) nor no ({', '.join(_NO)})")


def _flag_or_yes(text: str) -> bool:
    return not text.strip() or _flag(text)


def _unless_no(text: str) -> bool:
    return not is_no(text)


def _share(text: str) -> float:
    try:
        share = 0.0 if is_no(text) else 1.0 if _is_yes(text) else float(text)
    except ValueError:
        share = -1.0
    if 0 <= share <= 1:
        return share
    raise ValueError("no share of the calls, from 0 to 1 (0.01 is one in a hundred)")


_READ: dict[str, Callable[[str], object]] = {
    "compare": _share,
    "compare_file": str,
    # What only says something must not keep the redirect from being made.
    "log": _unless_no,
    "notes": _unless_no,
    "compiled": _flag_or_yes,
    "plans": _flag_or_yes,
}
"""How the value of a variable is read, if not by :func:`_flag`."""


def _names() -> list[str]:
    return [f"ALTHAIA_{name.upper()}" for name in Settings.__slots__[:-1]]


def meant(variable: str) -> str | None:
    """Return the variable of ours whose name an unknown one resembles, or None."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(variable, _names(), 1, 0.85)), None)
