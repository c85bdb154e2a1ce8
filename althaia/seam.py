"""The calls that patched marshmallow makes, and nothing else.

Patched upstream imports this module and only this one; the module knows nobody.
The engine puts its own functions here (see :func:`connect`). Until it has, or
where it has no plan, a hook answers :data:`DECLINED` and upstream's own code runs.
"""

from __future__ import annotations

import os
import sys
from _thread import allocate_lock, stack_size, start_new_thread

# Type checkers take this name for ``typing.TYPE_CHECKING``. This module is imported at
# interpreter start, where typing would cost ten times what the rest does.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
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

_FREE_THREADED: Final = "free-threading" in sys.version
# With its first thread CPython 3.13 without the GIL makes all classes and functions immortal.
_FIRST_THREAD_IS_COSTLY: Final = _FREE_THREADED and sys.version_info < (3, 14)

_connectors: list[Connector] = []
"""The function that loads the engine, until somebody takes it: only one thread can pop it."""

failure: BaseException | None = None
"""Why the engine could not be connected, if somebody tried and it failed."""

_TOLD: Final = 10
"""The attempt to load the engine that warns when it fails."""

_calls_to_leave = 0
"""Calls that do not try again, after an attempt that failed."""

_SECONDS: Final = 5
"""How long a call waits for the engine. One that is made while a module is imported may hold what
the loading waits for; that call and those until the engine is there are left to upstream's code."""

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

    Called as the last statement of marshmallow's ``schema`` module.
    """
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


def unknown_functions() -> frozenset[str]:
    """Functions of upstream's that are not those that our code was written against.

    Named as in the semantic lock (``fields.Integer._validated``); found when the copy was built.
    """
    global _unknown
    if _unknown is None:
        import json

        path = os.path.join(os.path.dirname(__file__), "_build_info.json")
        # Not by open(): the package may lie in an archive.
        loader: Any = globals()["__loader__"]
        try:
            _unknown = frozenset(json.loads(loader.get_data(path))["semantics"]["differing"])
        except OSError:
            _unknown = frozenset()
    return _unknown


_unknown: frozenset[str] | None = None

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
    """A schema class has been made. The engine takes this over once it is loaded."""


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

    The engine takes this over once it is loaded. Schemas alone load it only where there is no
    GIL: there a schema gets room for its plans while it is made, or never.
    """
    if not _FREE_THREADED:
        return False
    load_engine()
    hook = globals()["construct"]
    return bool(
        hook is not _OWN["construct"]
        and hook(schema, only, exclude, many, load_only, dump_only, partial, unknown)
    )


def connect(connector: Connector) -> None:
    """Name the function that loads the engine when a hook is called for the first time.

    ``connector`` is called without arguments, until it has returned once; it must replace the
    hooks in this module by its own.
    """
    _connectors[:] = [connector]


def load_engine(seconds: float = _SECONDS) -> None:
    """Load the engine if none has been loaded yet; done by the first call of a hook.

    Where that fails, as it does in a test that makes every import fail, upstream's own code runs
    and a later call tries again, after twice as many calls each time; a warning tells of the tenth
    failure. While the interpreter shuts down nothing can be imported: what is dumped then, in a
    ``__del__`` say, is dumped by upstream's own code.

    :raises EngineError: in each call, so that nobody runs without plans for ever and does not know
    """
    global _calls_to_leave
    if _calls_to_leave:
        _calls_to_leave -= 1
        return
    if not _connectors or sys.is_finalizing() or sys.meta_path is None:
        return
    attempt = _Attempt()
    error = attempt.outcome(seconds)
    if error is None:
        return
    if isinstance(error, EngineError) or not isinstance(error, Exception):
        raise error
    _calls_to_leave = 2 ** (attempt.number - 1) - 1
    if attempt.number == _TOLD:
        import warnings

        warnings.warn(
            f"althaia has no plans and marshmallow's own code runs: its engine could not be loaded "
            f"in {_TOLD} attempts, {type(error).__name__}: {error}",
            RuntimeWarning,
            stacklevel=4,
        )


class _Attempt:
    """One attempt to load the engine, in a thread of its own where that costs no more.

    What is raised in the thread that asks (by a signal's handler, at the limit of recursion) would
    leave modules half executed, and an extension module cannot be executed again.
    """

    count = 0

    def __init__(self) -> None:
        self.number = 0
        self._error: BaseException | None = None
        self._running = allocate_lock()
        self._running.acquire()
        if _FIRST_THREAD_IS_COSTLY:
            self._run()
            return
        try:
            # The program may have asked for small ones.
            size = stack_size(0)
            try:
                start_new_thread(self._run, ())
            finally:
                stack_size(size)
        except RuntimeError:  # No thread can be had here.
            self._run()

    def _run(self) -> None:
        global failure
        # Before the connector is taken: whoever finds none left finds who has it.
        _attempts.append(self)
        try:
            connector = _connectors.pop()
        except IndexError:  # Another one has it.
            _attempts.remove(self)
            self._running.release()
            return
        failure = RuntimeError("the engine is being loaded, or was when this process was forked")
        self.number = _Attempt.count = _Attempt.count + 1
        try:
            connector()
        except BaseException as error:
            failure = self._error = error
            _connectors.append(connector)
        else:
            failure = None
        finally:
            _attempts.remove(self)
            self._running.release()

    def outcome(self, seconds: float) -> BaseException | None:
        """What was raised; None where the engine is there, or on its way after that time."""
        if self._running.acquire(timeout=seconds):
            self._running.release()
        return self._error


_attempts: list[_Attempt] = []
"""Those that are under way."""


def await_engine(seconds: float = _SECONDS) -> None:
    """Load the engine, or wait for it where another thread is loading it.

    :raises EngineError: as :func:`load_engine`
    """
    load_engine(seconds)
    for attempt in tuple(_attempts):
        attempt.outcome(seconds)


def without_engine() -> None:
    """There is no engine, or it is switched off: from here on each hook answers at once."""
    globals().update(dict.fromkeys(_OWN, _declined), construct=_not_made)


def _declined(*args: Any) -> Any:
    return DECLINED


def _not_made(*args: Any) -> bool:
    return False


def dump(schema: Any, obj: Any, many: bool | None) -> Any:
    """First statement of ``Schema.dump``: the whole dump, hooks included, or DECLINED."""
    return _first_call("dump", schema, obj, many)


def dumps(
    schema: Any, obj: Any, args: tuple[Any, ...], many: bool | None, options: Namespace
) -> Any:
    """First statement of ``Schema.dumps``: the text, hooks included, or DECLINED."""
    return _first_call("dumps", schema, obj, args, many, options)


def dump_bytes(schema: Any, obj: Any, many: bool | None, options: Namespace) -> Any:
    """For :func:`althaia.json.dump_bytes`: what ``Schema.dumps`` gives, as bytes, or DECLINED."""
    return _first_call("dump_bytes", schema, obj, many, options)


def serialize(schema: Any, obj: Any, many: bool) -> Any:
    """First statement of ``Schema._serialize``: the serialized object(s), or DECLINED."""
    return _first_call("serialize", schema, obj, many)


def load(
    schema: Any, data: Any, many: bool | None, partial: Any, unknown: Any, postprocess: bool
) -> Any:
    """First statement of ``Schema._do_load``: the whole load, hooks included, or DECLINED."""
    return _first_call("load", schema, data, many, partial, unknown, postprocess)


def loads(
    schema: Any, text: Any, many: bool | None, partial: Any, unknown: Any, options: Namespace
) -> Any:
    """First statement of ``Schema.loads``: the loaded object(s), or DECLINED.

    ``options`` are those for the render module's own ``loads``.
    """
    return _first_call("loads", schema, text, many, partial, unknown, options)


def deserialize(
    schema: Any, data: Any, error_store: Any, many: bool, partial: Any, unknown: Any, index: Any
) -> Any:
    """In ``Schema._deserialize``, before ``if many:``: the loaded object(s), or DECLINED."""
    return _first_call("deserialize", schema, data, error_store, many, partial, unknown, index)


def _first_call(name: str, *args: Any) -> Any:
    load_engine()
    hook = globals()[name]
    return DECLINED if hook is _OWN[name] else hook(*args)


_OWN: Final = {
    hook.__name__: hook
    for hook in (construct, dump, dumps, dump_bytes, serialize, load, loads, deserialize)
}
