"""The calls that patched marshmallow makes, and nothing else.

Patched upstream imports this module and only this one; the module knows nobody.
The engine is loaded when a user's first schema class is made, and puts its own functions here
(see :func:`connect`). Until it has, or where it has no plan, a hook answers :data:`DECLINED` and
upstream's own code runs.
"""

from __future__ import annotations

import os
import sys
from _warnings import warn

# Type checkers take this name for ``typing.TYPE_CHECKING``. This module is imported at
# interpreter start, where typing would cost ten times what the rest does.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, Final

    Connector = Callable[[], object]
    Namespace = dict[str, Any]


class LazyPattern:
    """A class attribute that is a regular expression, compiled when somebody asks for it.

    From then on the attribute is the compiled pattern itself.
    """

    def __init__(self, pattern: str, flags: int = 0) -> None:
        # Now, as upstream compiles it now: a test may replace the function later.
        from re import compile

        self._compile = compile
        self.pattern = pattern
        self.flags = flags
        self.compiled: Any = None

    def __set_name__(self, owner: type, name: str) -> None:
        self.owner = owner
        self.name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        if self.compiled is None:
            self.compiled = self._compile(self.pattern, self.flags)
            if self.owner.__dict__.get(self.name) is self:
                setattr(self.owner, self.name, self.compiled)
        return self.compiled


class EngineError(RuntimeError):
    """The engine was written for another marshmallow than the copy that calls it."""


class _Declined:
    __slots__ = ()

    def __repr__(self) -> str:
        return "<althaia: no plan, upstream's own code runs>"


DECLINED: Final = _Declined()
"""What a hook returns to say: no plan here, run upstream's own code."""

_connectors: list[Connector] = []
"""The function that loads the engine, until a thread takes it: only one thread can pop it."""

failure: BaseException | None = None
"""Why the engine is not connected, if somebody has tried."""

pristine: dict[type, Namespace] = {}
"""Upstream's classes as they were defined: their attributes by class."""

modules: dict[str, Namespace] = {}
"""The live namespaces of upstream's modules, by their short names."""

defined: dict[str, Namespace] = {}
"""The same namespaces as they were when upstream had defined them: copies. Also that of the
standard library's ``copy``, which upstream's construction goes through."""


HookTable: Any = None
"""The class of ``Schema._hooks``, made when marshmallow brings ``defaultdict`` along."""


def _hook_table(defaultdict: Any) -> type:
    class HookTable(defaultdict):  # type: ignore[misc]
        """``Schema._hooks``: a schema class's hooks by tag, with room for what the engine keeps
        about the class where no loop over the class meets it."""

        __slots__ = ("examined", "model", "prototypes")

        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            self.prototypes: Any = None
            self.model: Any = None
            self.examined = 0

        def __repr__(self) -> str:
            return f"defaultdict({self.default_factory!r}, {dict.__repr__(self)})"

        def __reduce__(self) -> tuple[Any, ...]:
            return defaultdict, (self.default_factory,), None, None, iter(self.items())

    return HookTable


# What the interpreter and ``copy`` keep in a class when it, or an instance, is looked at.
_NOTED_BY_PYTHON: Final = frozenset(
    {
        "__annotate__",
        "__annotate_func__",
        "__annotations__",
        "__annotations_cache__",
        "__slotnames__",
    }
)


def has_kept(cls: type, attributes: Namespace) -> bool:
    """Whether nobody has put anything into this very class, or taken out of it, since it was
    defined with these attributes."""
    # In one go: another thread may be changing it.
    now = vars(cls).copy()
    return all(now.get(name) is value for name, value in attributes.items()) and all(
        name in attributes or name in _NOTED_BY_PYTHON for name in now
    )


def loaded(schema_namespace: Namespace) -> None:
    """Keep what upstream's classes are made of, before any user code can replace a method.

    Called as the last statement of marshmallow's ``schema`` module. Where a release has other
    modules than those that are known, there is no engine.
    """
    try:
        _keep(schema_namespace)
    except (AttributeError, KeyError) as error:
        if release is None:
            raise
        for kept in (modules, defined, pristine):
            kept.clear()
        without_engine(f"its modules are not those that are known ({error})")


def _keep(schema_namespace: Namespace) -> None:
    global HookTable
    HookTable = _hook_table(schema_namespace["defaultdict"])
    fields: Namespace = schema_namespace["ma_fields"].__dict__
    modules["schema"] = schema_namespace
    modules["fields"] = fields
    modules["utils"] = fields["utils"].__dict__
    modules["validate"] = fields["validate"].__dict__
    modules["error_store"] = schema_namespace["ErrorStore"].store_error.__globals__
    modules["orderedset"] = schema_namespace["OrderedSet"].add.__globals__
    modules["exceptions"] = schema_namespace["ValidationError"].__init__.__globals__
    defined.update({name: dict(namespace) for name, namespace in modules.items()})
    defined["copy"] = dict(vars(schema_namespace["copy"]))
    # Not when the first class is made: a test may have replaced json by then.
    unknown_functions()
    pristine.clear()
    for namespace in modules.values():
        owner = namespace["__name__"]
        for value in namespace.values():
            if isinstance(value, type) and value.__module__ == owner:
                pristine[value] = dict(vars(value))


def owner_of(schema: Any) -> type | None:
    """The ``Schema`` that a schema's class is derived from: that of our copy or, where the redirect
    is off, of the real marshmallow; None for anything else."""
    if modules and isinstance(schema, defined["schema"]["Schema"]):
        own: type = defined["schema"]["Schema"]
        return own
    for base in type(schema).__mro__:
        if base.__module__ == "marshmallow.schema" and base.__name__ == "Schema":
            return base
    return None


def unknown_functions() -> frozenset[str]:
    """Functions of upstream's that are not those that our code was written against.

    Named as in the semantic lock (``fields.Integer._validated``); of the compiled copy, found when
    it was built.
    """
    if _unknown is None:
        _find_meanings()
    assert _unknown is not None
    return _unknown


def variants() -> dict[str, str]:
    """Functions of upstream's that are known to mean something else, with the name of what."""
    if _variants is None:
        _find_meanings()
    assert _variants is not None
    return _variants


def _find_meanings() -> None:
    global _unknown, _variants
    if _meanings is not None:
        unknown, found = _meanings()
        _unknown, _variants = frozenset(unknown), found
        return
    import json

    path = os.path.join(os.path.dirname(__file__), "_build_info.json")
    # Not by open(): the package may lie in an archive.
    loader: Any = globals()["__loader__"]
    try:
        built = json.loads(loader.get_data(path))["semantics"]
    except OSError:
        built = {"differing": (), "variants": {}}
    _unknown, _variants = frozenset(built["differing"]), built["variants"]


_unknown: frozenset[str] | None = None
_variants: dict[str, str] | None = None
_meanings: Callable[[], tuple[Iterable[str], dict[str, str]]] | None = None

release: str | None = None
"""The release that is served, where it is not the compiled copy; "unknown" where nothing says."""


def serve(version: str, meanings: Callable[[], tuple[Iterable[str], dict[str, str]]]) -> None:
    """An installed release is served, and not the compiled copy.

    :param meanings: asked once, when all of it is imported, for what is unknown of it, and for
        the variants
    """
    global release, _meanings
    release, _meanings = version, meanings


HOOK_FUNCTIONS: Final = frozenset(
    {"schema.SchemaMeta.resolve_hooks", "decorators.set_hook", "decorators.MarshmallowHook"}
)
"""What :func:`resolve_hooks` does again, and rests on."""


def resolve_hooks(cls: type) -> Any:
    """First statement of ``SchemaMeta.resolve_hooks``: the hooks of a new schema class by tag.

    Upstream looks every name of ``dir(cls)`` up in every base. What ``object`` has and what
    ``Schema`` was defined with carries no hooks.
    """
    created(cls)
    if not modules or type(cls).__dir__ is not type.__dir__:
        return DECLINED
    if not HOOK_FUNCTIONS.isdisjoint(unknown_functions()):
        return DECLINED
    known = pristine[defined["schema"]["Schema"]]
    attributes: Namespace = {}
    # The last class is object.
    for base in cls.__mro__[-2::-1]:
        attributes.update(base.__dict__)
    names = [name for name in attributes if known.get(name) is not attributes[name]]
    try:
        names.sort()
    except TypeError:  # Upstream sorts in another order, and says so in the error.
        return DECLINED
    hooks = HookTable(list)
    for name in names:
        tagged: Any = getattr(attributes[name], "__marshmallow_hook__", DECLINED)
        if tagged is DECLINED:
            continue
        for tag, config in tagged.items():
            hooks[tag].extend((name, many, kwargs) for many, kwargs in config)
    return hooks


def created(cls: type) -> None:
    """A schema class has been made: load the engine, which takes this over, if it is a user's.

    ``Schema`` itself is made while upstream's modules are not known yet.
    """
    if modules:
        load_engine()


def binding(schema: Any) -> bool:
    """First statement of ``Schema._init_fields``: whether the fields are left until somebody looks
    at them. The engine takes this over once it is loaded."""
    return False


def construct(
    schema: Any,
    only: Any,
    exclude: Any,
    many: Any,
    load_only: Any,
    dump_only: Any,
    partial: Any,
    unknown: Any,
) -> bool:
    """First statement of ``Schema.__init__``: whether the instance is made.

    The engine takes this over once it is loaded.
    """
    return False


def connect(connector: Connector) -> None:
    """Name the function that loads the engine when a user's first schema class is made.

    ``connector`` is called once, without arguments; it must replace the hooks in this module by
    its own.
    """
    _connectors[:] = [connector]


def load_engine() -> None:
    """Load the engine if nobody has tried to load it yet.

    There is one attempt, because an extension module cannot be executed again after it was
    interrupted. If it fails, upstream's own code runs from then on; a warning and
    :func:`althaia.info` say why. What only a signal's handler can have raised is raised here.
    Calls that other threads make meanwhile run upstream's code. While the interpreter shuts down
    nothing can be imported, and nothing is tried.

    An engine that does not fit this marshmallow raises :class:`EngineError` in each later call, so
    that nobody runs without plans for ever and does not know.
    """
    global failure
    if sys.is_finalizing() or sys.meta_path is None:
        return
    try:
        connector = _connectors.pop()
    except IndexError:
        return
    failure = RuntimeError("the engine is being loaded, or was when this process was forked")
    try:
        connector()
    except EngineError as error:
        failure = error
        globals().update(dict.fromkeys(_OWN, _refused), construct=_not_made)
    except BaseException as error:
        failure = error
        without_engine()
        if type(error).__module__ != "builtins" or isinstance(error, _OF_SIGNALS):
            raise
        # Not of the module warnings: perhaps nothing can be imported.
        warn(
            "althaia has no plans and marshmallow's own code runs: its engine could not be loaded, "
            f"{type(error).__name__}: {error}",
            RuntimeWarning,
            stacklevel=4,
        )
    else:
        failure = None


_OF_SIGNALS: Final = (KeyboardInterrupt, SystemExit, TimeoutError)


def collection(schema: Any, objects: Any) -> Any:
    """In ``Schema._serialize`` without an engine, before its loop: the dumped list, or DECLINED."""
    load_engine()
    hook = globals()["collection"]
    return DECLINED if hook is _OWN["collection"] else hook(schema, objects)


no_engine = ""
"""Why there is none on this release, if there is none."""


def without_engine(why: str = "") -> None:
    """There is no engine, or it is switched off: from here on each hook answers at once."""
    global no_engine
    no_engine = why
    globals().update(dict.fromkeys(_OWN, _declined), construct=_not_made)


def _declined(*args: Any) -> Any:
    return DECLINED


def _refused(*args: Any) -> Any:
    """Raise the :class:`EngineError` that loading the engine has ended with."""
    assert failure is not None
    # Without the traceback of the last call, which would grow with each.
    raise failure.with_traceback(None)


def _not_made(*args: Any) -> bool:
    return False


def dump(schema: Any, obj: Any, many: bool | None) -> Any:
    """First statement of ``Schema.dump``: the whole dump, hooks included, or DECLINED."""
    return DECLINED


def dumps(
    schema: Any, obj: Any, args: tuple[Any, ...], many: bool | None, options: Namespace
) -> Any:
    """First statement of ``Schema.dumps``: the text, hooks included, or DECLINED."""
    return DECLINED


def dump_bytes(schema: Any, obj: Any, many: bool | None, options: Namespace) -> Any:
    """For :func:`althaia.json.dump_bytes`: what ``Schema.dumps`` gives, as bytes, or DECLINED."""
    return DECLINED


def serialize(schema: Any, obj: Any, many: bool) -> Any:
    """First statement of ``Schema._serialize``: the serialized object(s), or DECLINED."""
    return DECLINED


def load(
    schema: Any, data: Any, many: bool | None, partial: Any, unknown: Any, postprocess: bool
) -> Any:
    """First statement of ``Schema._do_load``: the whole load, hooks included, or DECLINED."""
    return DECLINED


def loads(
    schema: Any, text: Any, many: bool | None, partial: Any, unknown: Any, options: Namespace
) -> Any:
    """First statement of ``Schema.loads``: the loaded object(s), or DECLINED.

    ``options`` are those for the render module's own ``loads``.
    """
    return DECLINED


def deserialize(
    schema: Any, data: Any, error_store: Any, many: bool, partial: Any, unknown: Any, index: Any
) -> Any:
    """In ``Schema._deserialize``, before ``if many:``: the loaded object(s), or DECLINED."""
    return DECLINED


_OWN: Final = {
    hook.__name__: hook
    for hook in (
        collection,
        construct,
        dump,
        dumps,
        dump_bytes,
        serialize,
        load,
        loads,
        deserialize,
    )
}
"""The hooks that answer, as they are before the engine is loaded."""
