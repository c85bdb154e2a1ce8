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
    strict: bool
    """``ALTHAIA_STRICT``: a schema, or a field of upstream's own, without a plan is an error."""
    compare: float
    """``ALTHAIA_COMPARE``: the share of calls that upstream's own code runs too."""
    compare_file: str
    """``ALTHAIA_COMPARE_FILE``: append each new difference to this file, as a line of JSON."""
    log: bool
    """``ALTHAIA_LOG``: log once for each schema, on the logger ``althaia``, what has no plan. Any
    value but no is yes."""
    notes: bool
    """``ALTHAIA_NOTES``: add a note with the field to an exception that leaves a plan. Any value
    but no is yes."""
    gc: str
    """``ALTHAIA_GC``: ``pause`` where the garbage collector is off during large dumps, else ""."""
    unknown: tuple[str, ...]
    """Variables of the environment that begin with ``ALTHAIA_`` and that nothing reads."""

    __slots__ = tuple(__annotations__)

    def __init__(self, environ: Mapping[str, str]) -> None:
        read: dict[str, Callable[[Mapping[str, str], str], object]] = {
            "compare": _share,
            "compare_file": lambda environ, variable: environ.get(variable, ""),
            "gc": _collector,
            # What only says something must not keep the redirect from being made.
            "log": _unless_no,
            "notes": _unless_no,
            "compiled": _flag_or_yes,
            "plans": _flag_or_yes,
        }
        for name in self.__slots__[:-1]:
            value = read.get(name, _flag)(environ, f"ALTHAIA_{name.upper()}")
            setattr(self, name, value)
        self.unknown = _unknown(environ)
        for variable in self.unknown if self.strict else ():
            if similar := meant(variable):
                raise ConfigError(f"no variable is called {variable}; did you mean {similar}?")

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


def _text(environ: Mapping[str, str], variable: str) -> str:
    return environ.get(variable, "").strip().lower()


def _unless_no(environ: Mapping[str, str], variable: str) -> bool:
    return not is_no(_text(environ, variable))


def _flag_or_yes(environ: Mapping[str, str], variable: str) -> bool:
    return not _text(environ, variable) or _flag(environ, variable)


def _flag(environ: Mapping[str, str], variable: str) -> bool:
    text = _text(environ, variable)
    if text in _YES or is_no(text):
        return text in _YES
    raise _bad(environ, variable, f"neither yes ({', '.join(_YES)}) nor no ({', '.join(_NO)})")


def _share(environ: Mapping[str, str], variable: str) -> float:
    text = _text(environ, variable)
    if is_no(text):
        return 0.0
    try:
        share = 1.0 if text in _YES else float(text)
    except ValueError:
        share = -1.0
    if 0 <= share <= 1:
        return share
    what = "no share of the calls, from 0 to 1 (0.01 is one in a hundred)"
    raise _bad(environ, variable, what)


def _collector(environ: Mapping[str, str], variable: str) -> str:
    text = _text(environ, variable)
    if is_no(text):
        return ""
    if text == "pause":
        return text
    raise _bad(environ, variable, f"neither pause nor no ({', '.join(_NO)})")


def _bad(environ: Mapping[str, str], variable: str, what: str) -> ConfigError:
    return ConfigError(
        f"the environment variable {variable} is {environ[variable]!r}, which is {what}: change it "
        "or unset it"
    )


def _names() -> list[str]:
    return [f"ALTHAIA_{name.upper()}" for name in Settings.__slots__[:-1]]


def _unknown(environ: Mapping[str, str]) -> tuple[str, ...]:
    given = {name for name in environ if name.startswith("ALTHAIA_")}
    return tuple(sorted(given.difference(_names(), _OF_BUILDS)))


def meant(variable: str) -> str | None:
    """Return the variable of ours whose name an unknown one resembles, or None."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(variable, _names(), 1, 0.85)), None)
