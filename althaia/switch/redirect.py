"""``import marshmallow`` yields ``althaia.marshmallow``, under marshmallow's own names.

:mod:`althaia.switch.release` decides what ``althaia.marshmallow`` is: the compiled copy, or the
installed release with our hooks. There is one copy of the library, under two names. For
``marshmallow`` and everything below it the finder returns specs of the served files. Their loader
imports the module as ``althaia.marshmallow…`` and returns the same object. While the redirect is
on, ``__name__`` of these modules and ``__module__`` of the classes and functions that they define
are ``marshmallow…``. Hence pickles, logs, ``repr`` and reloads are those of the real library. All
state is in one object, :class:`_Redirect`.
"""

from __future__ import annotations

import os
import sys
from _thread import RLock  # threading would cost more than this whole module
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder

from althaia import seam
from althaia.switch import installed, release as releases
from althaia.switch.config import ConfigError, settings
from althaia.switch.release import OURS, PREFIX, REAL

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import ModuleType
    from typing import Any


class LatePatchError(RuntimeError):
    """The real marshmallow was imported before the redirect was switched on.

    :ivar holders: names of modules that hold references to it -> the names they hold.
    """

    def __init__(self, holders: dict[str, list[str]], how: str = "althaia.patch()") -> None:
        from althaia.switch import late

        self.holders = holders
        super().__init__(late.text(holders, how))


REFUSALS = (ConfigError, installed.ReleaseError, LatePatchError)
"""What :func:`switch_on` raises where marshmallow cannot be redirected."""


def switch_on(how: str, *, force: bool = False, compiled: bool | None = None) -> bool:
    """Switch the redirect on; see :func:`althaia.patch`.

    :param how: what switched it on, for ``althaia.info()``; the first call counts.
    """
    if settings().disable:
        return False
    if not force and not _redirect.installed:
        installed.check(real_location())
    if compiled is not None:
        releases.wants_compiled = compiled
    _redirect.install(force=force, how=how)
    return True


def unpatch() -> bool:
    """Take the redirect away: the next ``import marshmallow`` yields the real one.

    Module names, ``sys.modules`` and ``sys.meta_path`` are put back. Whoever imported the
    compiled copy before goes on using it.

    :returns: whether there was a redirect to take away.
    """
    return _redirect.remove()


def is_patched() -> bool:
    """Whether ``import marshmallow`` yields the compiled copy."""
    return _redirect.installed


def how_patched() -> str | None:
    """Return what switched the redirect on, or None."""
    return _redirect.how if _redirect.installed else None


def real_location() -> str | None:
    """Return the file of the real marshmallow without importing it; None if it is missing."""
    spec = releases.real_spec(REAL, None)
    return None if spec is None else spec.origin


class _Redirect:
    """The state of the redirect. Nothing is imported while its lock is held."""

    def __init__(self) -> None:
        self.how: str | None = None
        self._lock = RLock()
        self._finder = _Finder()
        # By our name: the module that has marshmallow's, and the attributes that it had before.
        self._presented: dict[str, tuple[ModuleType, dict[str, Any]]] = {}
        self._set_aside: dict[str, ModuleType] = {}
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._renew_lock)

    @property
    def installed(self) -> bool:
        return any(finder is self._finder for finder in sys.meta_path)

    def install(self, *, force: bool, how: str) -> None:
        with self._lock:
            real = _real_modules()
            if real and not force:
                from althaia.switch import late

                loaded = sys.modules.copy().items()
                others = {k: contents(module) for k, module in loaded if not _below(k, REAL)}
                raise LatePatchError(late.holders(real, others), how)
            for name, module in real.items():
                self._set_aside.setdefault(name, module)
                del sys.modules[name]
            if not self.installed:
                sys.meta_path.insert(0, self._finder)
                self.how = how
            self.present_loaded()

    def remove(self) -> bool:
        with self._lock:
            was_installed = self.installed
            sys.meta_path[:] = [each for each in sys.meta_path if each is not self._finder]
            for own_name, (module, originals) in self._presented.items():
                name = own_name.removeprefix(PREFIX)
                if sys.modules.get(name) is module:
                    del sys.modules[name]
                _namespace(module).update(originals)
                _rename(contents(module), name, own_name)
            self._presented.clear()
            for name, module in self._set_aside.items():
                sys.modules.setdefault(name, module)
            self._set_aside.clear()
            for namespace, name, theirs, ours in seam.replaced:
                if namespace.get(name) is ours:
                    namespace[name] = theirs
            seam.replaced.clear()
            self.how = None
            return was_installed

    def present(self, own_name: str, module: ModuleType) -> None:
        """Give one of our modules marshmallow's name, after it was executed."""
        with self._lock:
            if not self.installed:
                return
            name = own_name.removeprefix(PREFIX)
            spec = _find(name)
            if spec is None:
                raise ImportError(f"the files of {own_name} are no longer there", name=own_name)
            # Each `import` statement that names the module reads it, and is slow where it is
            # missing: import_ensure_initialized() in CPython's Python/import.c.
            spec._initializing = False  # type: ignore[attr-defined]
            attributes = {
                "__name__": name,
                "__package__": spec.parent,
                "__spec__": spec,
                "__loader__": spec.loader,
                # inspect.getsource() and others find a module's source by this name.
                "__file__": _source_beside(spec.origin or ""),
            }
            namespace = _namespace(module)
            known, _ = self._presented.get(own_name, (None, {}))
            if known is not module:
                originals = {key: namespace[key] for key in attributes if key in namespace}
                self._presented[own_name] = module, originals
                _rename(contents(module), own_name, name)
            namespace.update(attributes)
            sys.modules[name] = module

    def present_loaded(self) -> None:
        """Give marshmallow's names to all our modules that are loaded."""
        for name, module in sys.modules.copy().items():
            if _below(name, OURS) and _is_complete(module):
                self.present(name, module)

    def _renew_lock(self) -> None:
        # A thread that held the lock does not exist in the forked child.
        self._lock = RLock()


class _Finder:
    """Finds the modules of marshmallow, under both names."""

    finds_althaia = True

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if _below(fullname, OURS):
            return own_spec(fullname, path)
        if releases.searches(fullname) or not _below(fullname, REAL):
            return None
        if releases.serve().how == releases.UNTOUCHED:
            if fullname == REAL:
                releases.serve().say()
            # The finders after ours find it.
            return None
        parent = fullname.rpartition(".")[0]
        if parent and sys.modules.get(parent) is not sys.modules.get(PREFIX + parent):
            raise ImportError(
                f"{fullname} was asked for while althaia redirects marshmallow, but "
                f"sys.modules[{parent!r}] is not althaia's copy: something put the real one "
                f"back. Import it before althaia.patch(), or call althaia.unpatch() first",
                name=fullname,
            )
        spec = _find(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = _AliasLoader(spec.loader)  # type: ignore[assignment]
            return spec
        if not parent:
            raise ModuleNotFoundError(
                f"althaia redirects marshmallow, but its own copy ({OURS}) is not there: "
                "the package was not built. Install a wheel, or build it with 'pip install .'",
                name=fullname,
            )
        return None


class _OwnLoader:
    """Loads a module under our name, with the loader of its file; then gives it marshmallow's."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def exec_module(self, module: ModuleType) -> None:
        name = self._settle(module)
        self._execute(module, name)
        _redirect.present(name, module)

    def _settle(self, module: ModuleType) -> str:
        """Put the loader of the file in our place, and return the module's name."""
        spec = module.__spec__
        assert spec is not None
        # The import system has put a spec with this loader into the module.
        spec.loader = module.__loader__ = self._loader
        return spec.name

    def _execute(self, module: ModuleType, name: str) -> None:
        release = releases.serve()
        if release.how == releases.COMPILED:
            self._loader.exec_module(module)
        else:
            path = getattr(module.__spec__, "origin", None) or ""
            release.execute(module, name.removeprefix(PREFIX), self._loader, path)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)


class _AliasLoader(_OwnLoader):
    """Loads one name of a module: it returns the module that is loaded under the other one."""

    _spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        is_ours = _below(spec.name, OURS)
        name = spec.name.removeprefix(PREFIX) if is_ours else PREFIX + spec.name
        module = import_module(name)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        if releases.serve().how == releases.UNTOUCHED:
            # The import system has put a spec with our name into it.
            module.__spec__ = self._spec
            return
        name = self._settle(module)
        if self._spec is None:  # importlib.reload() calls no create_module().
            self._execute(module, name)
        _redirect.present(PREFIX + name, module)


def _below(name: str, package: str) -> bool:
    return name.startswith(package) and (len(name) == len(package) or name[len(package)] == ".")


def own_spec(name: str, path: Sequence[str] | None = None) -> ModuleSpec | None:
    """Return the spec of ``althaia.marshmallow``, or of a module below it, for the served file."""
    if releases.serve().how == releases.UNTOUCHED:
        found = releases.untouched_spec(name, path)
        if found is None:
            return None
        loader: Any = _AliasLoader(found.loader)
        return ModuleSpec(name, loader, origin=found.origin)
    spec = _served_spec(name, path)
    if spec is not None and spec.loader is not None:
        spec.loader = _OwnLoader(spec.loader)  # type: ignore[assignment]
    return spec


def _find(name: str) -> ModuleSpec | None:
    """Return the spec, under marshmallow's name, of the file that is served for it."""
    parent = sys.modules.get((PREFIX + name).rpartition(".")[0])
    return None if parent is None else _served_spec(name, parent.__path__)


def _served_spec(name: str, path: Sequence[str] | None) -> ModuleSpec | None:
    is_compiled = releases.serve().how == releases.COMPILED
    find = PathFinder.find_spec if is_compiled else releases.installed_spec
    return find(name, path)


def _source_beside(path: str) -> str:
    """Return the path of the Python source beside an extension module; any other path unchanged."""
    source = os.path.join(os.path.dirname(path), os.path.basename(path).partition(".")[0] + ".py")
    return source if os.path.exists(source) else path


def _is_complete(module: ModuleType) -> bool:
    return not getattr(contents(module).get("__spec__"), "_initializing", False)


def _rename(namespace: Mapping[str, Any], old: str, new: str) -> None:
    """Change the ``__module__`` of the classes and functions of module ``old`` to ``new``."""
    for value in list(namespace.values()):
        if getattr(value, "__module__", None) != old:
            continue
        if isinstance(value, type):
            value.__module__ = new
            _rename(vars(value), old, new)
        elif type(value).__module__ not in (old, new):
            # An instance of one of our classes gets ``__module__`` from its class.
            value.__module__ = new


def _real_modules() -> dict[str, ModuleType]:
    return {
        name: module
        for name, module in sys.modules.copy().items()
        if _below(name, REAL)
        and module is not None
        and module is not sys.modules.get(PREFIX + name)
    }


def contents(module: object) -> dict[str, object]:
    """Return a copy of a module's namespace. sys.modules may contain objects without one."""
    try:
        return _namespace(module).copy()
    except AttributeError:
        return {}


def _namespace(module: object) -> dict[str, Any]:
    # Not vars(): it would load a lazy module, which may be loading at this moment.
    namespace: dict[str, Any] = object.__getattribute__(module, "__dict__")
    return namespace


_redirect = _Redirect()
