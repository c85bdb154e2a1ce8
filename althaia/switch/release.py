"""Selects the marshmallow that a process is served: the compiled copy, or the installed one.

The compiled copy is served if it was made from the installed release. Any other release is served
from its own files, into which our hooks are inserted while they are imported.
"""

from __future__ import annotations

import os
import sys
from _thread import _local  # threading would cost more than this module
from importlib.machinery import EXTENSION_SUFFIXES, ModuleSpec

from althaia import seam
from althaia.switch import installed
from althaia.switch.config import settings

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import CodeType, ModuleType
    from typing import Any

REAL = "marshmallow"
PREFIX = "althaia."
"""What our names of its modules have before theirs."""
OURS = PREFIX + REAL

COMPILED = "compiled"
INTERPRETED = "interpreted"
UNTOUCHED = "untouched"

_NEEDED = ("seam-import", "seam-loaded")
"""The hooks without which no plan can be made."""


class AlthaiaWarning(UserWarning):
    """The installed marshmallow, or a part of it, cannot be planned and runs its own code."""


class Release:
    """The marshmallow that a process is served; see :func:`find`.

    :ivar version: the version of the installed release; ``unknown`` without metadata.
    :ivar how: :data:`COMPILED`, :data:`INTERPRETED`, or :data:`UNTOUCHED` by us.
    :ivar location: the folder of its files, which may be in an archive; "" if it has none.
    :ivar lost: what cannot be planned on this release, and why, in sentences.
    :ivar left_out: hooks of ours that have no place in its files.
    :ivar unread: its functions whose code was not reviewed. What depends on them has no plan.
    :ivar variants: its functions that behave differently, and the name of the variant.
    """

    def __init__(self, version: str, how: str, spec: ModuleSpec | None) -> None:
        self.version = version
        self.how = how
        self.spec = spec
        self.location = os.path.dirname(spec.origin) if spec and spec.origin else ""
        self.lost: list[str] = []
        self.left_out: list[str] = []
        built = installed.build_info().get("semantics", {}) if how == COMPILED else {}
        self.unread: list[str] = built.get("differing", [])
        self.variants: dict[str, str] = built.get("variants", {})
        self._codes: dict[str, CodeType] = {}
        self._said = False

    def look(self) -> bool:
        """Compile its files with our hooks, and keep the code of each.

        :returns: whether it has a schema module
        """
        from althaia.releases.bytecode import code_of

        loader: Any = self.spec.loader if self.spec else None
        sources = {}
        for file in _files(self.location):
            try:
                sources[file] = loader.get_data(os.path.join(self.location, *file.split("/")))
            except OSError:  # It has byte code only.
                continue
        found = code_of(sources, self.location, self.version, engine=has_engine())
        self._codes, self.left_out, self.unread, self.variants = found
        return "schema.py" in found[0]

    def execute(self, module: ModuleType, name: str, loader: Any, path: str) -> None:
        """Execute one of its modules with our hooks, or as it is if it cannot be read.

        :param name: the module's own name, which is that of the loader
        """
        file = os.path.relpath(path, self.location).replace(os.sep, "/")
        exec(self._codes.get(file) or loader.get_code(name), module.__dict__)
        if name == REAL:
            self.say()

    def as_dict(self) -> dict[str, str | list[str]]:
        """Return what is known of it as plain data."""
        return {
            "version": self.version,
            "how": self.how,
            "left_out": self.left_out,
            "lost": self.lost,
            "unknown": self.unread,
        }

    def leave(self, why: str) -> None:
        """Leave it as it is, because of what is said."""
        self.how = UNTOUCHED
        self.lost.append(why)

    def say(self) -> None:
        """Say, once in a process, what of it cannot be planned: by a warning if hooks of ours or
        all plans are lost, by the logger if functions of it were not reviewed."""
        if seam.no_engine and seam.no_engine not in self.lost:
            self.lost.append(seam.no_engine)
        told = [*self.lost]
        if self.left_out and self.how != UNTOUCHED:
            told.append(f"hooks without a place in it: {', '.join(self.left_out)}")
        is_warning = bool(told)
        if self.unread and self.how == INTERPRETED and has_engine():
            told.append(
                f"{len(self.unread)} functions that nobody has read ('python -m althaia info' "
                "names them)"
            )
        if self._said or not told:
            return
        self._said = True
        text = f"althaia does not plan all of marshmallow {self.version}: {'; '.join(told)}"
        if is_warning:
            seam.warn(text, AlthaiaWarning, stacklevel=3)
        elif "logging" in sys.modules:  # If nobody has imported it, there is no handler either.
            sys.modules["logging"].getLogger("althaia").info(text)


def _files(package: str, within: str = "") -> Iterator[str]:
    """Yield the modules of a package, which may be in an archive: ``experimental/context.py``."""
    from pkgutil import iter_modules

    yield f"{within}__init__.py"
    for found in iter_modules([os.path.join(package, within)]):
        if found.ispkg:
            yield from _files(package, f"{within}{found.name}/")
        else:
            yield f"{within}{found.name}.py"


def served() -> Release | None:
    """Return the release that this process was served; None before marshmallow is imported."""
    return _served


def serve() -> Release:
    """Return the release that this process is served from now on. The first call decides."""
    global _served
    if _served is None:
        _served = find()
        version = None if _served.how == COMPILED else _served.version
        seam.serve(version, _served.unread, _served.variants)
        if _served.how == UNTOUCHED:
            seam.without_engine(_served.lost[-1])
    return _served


_served: Release | None = None


def find() -> Release:
    """Return the release that would be served with the present ``sys.path``."""
    made_from = installed.served()
    spec = real_spec(REAL, None)
    if made_from is None or spec is None:
        release = Release(made_from or "unknown", COMPILED, None)
        if made_from == "":
            release.leave("no marshmallow is installed, and a pure build has no copy of it")
        return release
    version = installed.version_beside(spec.origin) if spec.origin else None
    wanted = settings().compiled if wants_compiled is None else wants_compiled
    compiled = version == made_from and wanted
    release = Release(
        version or installed.installed() or "unknown", COMPILED if compiled else INTERPRETED, spec
    )
    if _belongs_to_another_interpreter(f"{OURS}.schema" if compiled else _DOOR):
        release.leave("compiled modules serve one interpreter of a process, and another has them")
    elif not compiled and (reason := _why_untouched(release)):
        release.leave(f"{reason}, so it runs untouched")
    return release


def _why_untouched(release: Release) -> str:
    spec = release.spec
    assert spec is not None
    if installed.is_too_old(release.version):
        return f"althaia serves {installed.OLDEST} and newer"
    if not release.location or spec.submodule_search_locations is None:
        return "it is no package with files"
    try:
        if not release.look():
            return "it has no schema module that can be read as source"
    except Exception as error:
        return f"its files cannot be read as source ({type(error).__name__}: {error})"
    missing = [hook for hook in _NEEDED if hook in release.left_out]
    return f"{' and '.join(missing)} have no place in it" if missing else ""


def _belongs_to_another_interpreter(name: str) -> bool:
    """Return whether a compiled module cannot be loaded because another interpreter has loaded it.

    uWSGI with several mounts and mod_wsgi run applications in interpreters of their own in one
    process. A module of Cython can be loaded by one of them; it refuses the others before any of
    its code runs.
    """
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location(name, compiled_file(name) or "")
    if spec is not None:
        try:
            module_from_spec(spec)
        except ImportError:
            return True
    return False


def compiled_file(name: str) -> str | None:
    """Return the file of one of our extension modules for this interpreter, or None."""
    # Not by a finder: beside a floor's module lies a folder of its name, a namespace package.
    package = os.path.dirname(os.path.dirname(__file__))
    stem = os.path.join(package, *name.split(".")[1:])
    return next(filter(os.path.isfile, (stem + suffix for suffix in EXTENSION_SUFFIXES)), None)


def has_engine() -> bool:
    """Return whether this build has an engine; a pure build has none."""
    return compiled_file(_DOOR) is not None


def is_cpython() -> bool:
    """Return whether this is CPython. Other interpreters get pure builds only."""
    return sys.implementation.name == "cpython"


def why_no_engine() -> str:
    """Say why a pure build has no engine, and what to do where more than that can be had."""
    if not is_cpython():
        return "this is a pure build, and there is no other for this interpreter"
    if not os.path.isdir(os.path.dirname(__file__)):
        return "extension modules do not load from an archive"
    without = " without ALTHAIA_PURE_BUILD" if os.environ.get("ALTHAIA_PURE_BUILD") else ""
    return (
        "this is a pure build: install a wheel for this interpreter, or build it from source with "
        f"a C compiler{without}"
    )


def why_no_plans() -> str:
    """Say why this process has no plans; "" if it has, or will have with its first schema."""
    if not settings().plans:
        return "ALTHAIA_PLANS=0 is set; unset it before the process starts"
    if seam.no_engine:
        return f"marshmallow {seam.release} is served, and {seam.no_engine}"
    if not has_engine():
        return why_no_engine()
    if seam.failure is not None:
        return f"the engine could not be loaded: {type(seam.failure).__name__}: {seam.failure}"
    return ""


_DOOR = "althaia.engine.door"
"""The module of the engine that imports all others."""


wants_compiled: bool | None = None
"""The argument of ``patch(compiled=…)``; None if it was not given."""


def real_spec(name: str, path: Sequence[str] | None) -> ModuleSpec | None:
    """Return the spec of a module of the real marshmallow without importing it.

    A finder may call all other finders in turn, as that of ddtrace does. Until the search ends, our
    finder returns None for this name in this thread.
    """
    outer, _search.name = getattr(_search, "name", None), name
    try:
        for finder in tuple(sys.meta_path):
            find: Any = getattr(finder, "find_spec", None)
            if find is not None and not getattr(finder, "finds_althaia", False):
                spec: ModuleSpec | None = find(name, path)
                if spec is not None:
                    return spec
    except ImportError:  # A finder blocks this import.
        pass
    finally:
        _search.name = outer
    return None


_search = _local()


def searches(name: str) -> bool:
    """Return whether this thread is in :func:`real_spec` for this name."""
    return getattr(_search, "name", None) == name


def untouched_spec(name: str, path: Sequence[str] | None) -> ModuleSpec | None:
    """Return the real spec of a module of the installed release, by one of its two names."""
    real_name = name.removeprefix(PREFIX)
    return serve().spec if real_name == REAL else real_spec(real_name, path)


def installed_spec(name: str, path: Sequence[str] | None) -> ModuleSpec | None:
    """Return the spec, under one of its two names, of a module of the installed release."""
    spec = untouched_spec(name, path)
    if spec is None or spec.loader is None or not spec.origin:
        return spec
    from importlib.util import spec_from_file_location

    places = spec.submodule_search_locations
    return spec_from_file_location(
        name, spec.origin, loader=spec.loader, submodule_search_locations=places
    )
