"""What is installed and how it is switched on: ``althaia.info()``."""

import platform
import sys
from dataclasses import dataclass
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any

from althaia.switch import config, installed, redirect, release
from althaia.switch.release import COMPILED, INTERPRETED, Release

_PACKAGE = Path(__file__).parents[1]


class NotCompiledError(ImportError):
    """``ALTHAIA_REQUIRE_COMPILED`` is set and something is not compiled."""


STALE = "compiled, but its source has changed since"


def suggested(variable: str) -> str:
    """Return an unknown variable with the one that is meant, for people."""
    meant = config.meant(variable)
    return f"{variable} (did you mean {meant}?)" if meant else variable


@dataclass(frozen=True)
class Info:
    """The result of :func:`althaia.info`."""

    version: str
    """althaia's own version."""
    upstream: str | None
    """The marshmallow release from which the copy was made; None in a pure build, which has no
    copy, and if nothing was built."""
    cython: str | None
    """The Cython that compiled it; None in a pure build."""
    python: str
    """The running interpreter."""
    modules: dict[str, str]
    """Each module that the build compiles: :data:`COMPILED` if importing it here loads machine
    code, :data:`STALE` if its source was edited since, else :data:`INTERPRETED`."""
    patched: bool
    how: str | None
    """What switched the redirect on: ``althaia.patch()``, ``ALTHAIA_PATCH``, …"""
    real_version: str | None
    """The version of the real marshmallow, or None if it is not installed."""
    real_location: str | None
    served: Release
    """Which release is served, or would be."""
    plans: str
    """``on``, or ``none`` and why."""
    settings: dict[str, bool | float | str]
    unknown_variables: tuple[str, ...]
    """Variables of the environment that begin with ``ALTHAIA_`` and that nothing reads."""

    @property
    def compiled(self) -> bool:
        """Whether every module that the build compiles is compiled."""
        return bool(self.modules) and INTERPRETED not in self.modules.values()

    @property
    def any_compiled(self) -> bool:
        """Whether this is a build with compiled modules, and no pure one."""
        return any(state != INTERPRETED for state in self.modules.values())

    @property
    def stale(self) -> tuple[str, ...]:
        """The compiled modules whose source was edited since."""
        return tuple(name for name, state in self.modules.items() if state == STALE)

    @property
    def how_served(self) -> str:
        """How the release is served, for people."""
        if self.served.how == INTERPRETED:
            return "installed files" + (", compiled plans" if self.plans == "on" else "")
        return self.served.how

    def as_dict(self) -> dict[str, Any]:
        """Return the same as plain data, ready for JSON."""
        found = vars(self) | {"compiled": self.compiled, "stale": list(self.stale)}
        found["served"] = self.served.as_dict()
        found["real"] = {
            "version": found.pop("real_version"),
            "location": found.pop("real_location"),
        }
        return found

    def as_text(self, *, verbose: bool = False) -> str:
        """Return the same for reading, one fact a line.

        :param verbose: all modules, and not only those that are not compiled from what is there.
        """
        served, count = self.served, sum(state != INTERPRETED for state in self.modules.values())
        facts = {
            "althaia": self.version,
            "built from": f"marshmallow {self.upstream}" if self.upstream else "no marshmallow",
            "compiled": f"{count} of {len(self.modules)} modules",
            "Cython": self.cython,
            "Python": self.python,
            "patched": f"yes, by {self.how}" if self.patched else "no",
            "real marshmallow": f"{self.real_version} in {self.real_location}"
            if self.real_location
            else "not installed",
            "serves": f"marshmallow {served.version}, {self.how_served}"
            if self.patched or self.real_location
            else "nothing",
            "hooks left out": ", ".join(served.left_out),
            "lost": "; ".join(served.lost),
            "not known": served.unread and f"{len(served.unread)} functions; --json names them",
            "plans": self.plans,
            "settings": ", ".join(k for k, on in self.settings.items() if on) or "none",
            "unknown variables": ", ".join(map(suggested, self.unknown_variables)),
        }
        lines = [f"{name:<18}{value}" for name, value in facts.items() if value]
        listed = {
            name: state
            for name, state in self.modules.items()
            if verbose or (self.any_compiled and state != COMPILED)
        }
        if listed:
            width = max(map(len, listed)) + 2
            lines += ["modules", *(f"  {name:<{width}}{listed[name]}" for name in listed)]
        return "\n".join(lines)


def info() -> Info:
    """What is installed here and how it is switched on.

    :returns: an object with ``as_text()`` and ``as_dict()``: versions, which modules are
        compiled or stale, whether and how marshmallow is redirected, where the real one is.

    >>> import althaia
    >>> althaia.info().as_dict()["patched"]
    False
    """
    stamp = installed.build_info()
    served, location = release.served() or release.find(), redirect.real_location()
    return Info(
        version=stamp.get("version", "unknown"),
        upstream=installed.served() or None,
        cython=stamp.get("cython"),
        python=f"{platform.python_implementation()} {platform.python_version()}",
        modules=_modules(stamp),
        patched=redirect.is_patched(),
        how=redirect.how_patched(),
        real_version=served.version if location else None,
        real_location=location,
        served=served,
        plans=f"none: {why}" if (why := release.why_no_plans()) else "on",
        settings=config.settings().as_dict(),
        unknown_variables=config.settings().unknown,
    )


def interpreter_features() -> dict[str, bool]:
    """Return by name which features of this CPython the plans use.

    Whether there is a GIL, on which lazy instances depend, is fixed when the plans are compiled.
    The other features are checked when the plans are imported. A feature that does not work is
    replaced by the public C API. Empty in a pure build, which has no plans.
    """
    if not release.has_engine():
        return {}
    guards = import_module("althaia.engine.plan")
    found: dict[str, bool] = guards.features()
    return found


def check_compiled() -> None:
    """Check that everything is compiled, if ``ALTHAIA_REQUIRE_COMPILED`` is set.

    :raises NotCompiledError: ``ALTHAIA_REQUIRE_COMPILED`` is set and a module is interpreted.
    """
    settings = config.settings()
    if settings.disable or not settings.require_compiled:
        return
    modules = _modules(installed.build_info()) or {f"{release.OURS} (never built)": INTERPRETED}
    if what := ", ".join(name for name, state in modules.items() if state == INTERPRETED):
        raise NotCompiledError(
            f"ALTHAIA_REQUIRE_COMPILED is set, but these are not compiled for "
            f"{sys.implementation.cache_tag}: {what}. Install a wheel for this interpreter or "
            "build one ('pip install .' without ALTHAIA_PURE_BUILD), or unset the variable",
            name=release.OURS,
        )


def _modules(stamp: dict[str, Any]) -> dict[str, str]:
    def state(name: str, recorded: dict[str, Any]) -> str:
        if release.compiled_file(name) is None:
            return INTERPRETED
        sources = [_PACKAGE.parent / each for each in recorded["sources"]]
        try:
            digest = sha256(b"".join([source.read_bytes() for source in sources])).hexdigest()
        except FileNotFoundError:
            return COMPILED
        return COMPILED if digest == recorded["sha256"] else STALE

    return {name: state(name, each) for name, each in sorted(stamp.get("modules", {}).items())}
