"""The hooks that patched marshmallow calls.

Patched marshmallow imports only this module of althaia, and this module imports none of them. The
engine is loaded when the first schema class of a user is created, and then replaces the functions
here by its own (see :func:`connect`). Before that, or if there is no plan, a hook returns
:data:`DECLINED` and upstream's own code runs.
"""

from __future__ import annotations

import sys
from _collections import defaultdict  # type: ignore[import-not-found]
from _warnings import warn as _warn
from itertools import count as _count

# Type checkers take this name for ``typing.TYPE_CHECKING``. This module is imported at
# interpreter start, where typing would cost ten times what the rest does.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    Connector = Callable[[], object]
    Namespace = dict[str, Any]


class LazyPattern:
    """A class attribute that is a regular expression, compiled when it is first read."""

    def __init__(self, pattern: str, flags: int = 0) -> None:
        # Import the function now, when upstream would call it: a test may replace it later.
        from re import compile

        self._compile = compile
        self.pattern = pattern
        self.flags = flags
        self.compiled: Any = None

    def __get__(self, instance: Any, owner: type) -> Any:
        if self.compiled is None:
            self.compiled = self._compile(self.pattern, self.flags)
        return self.compiled


def pause() -> None:
    """Do nothing. Compiled loops call it now and then, so that the interpreter handles signals and
    gives other threads the GIL (``cpython/stack.h``)."""


DECLINED = object()
"""What a hook returns if there is no plan, so that upstream's own code runs."""

_connectors: list[Connector] = []
"""The function that loads the engine, until a thread takes it: only one thread can pop it."""

failure: BaseException | None = None
"""The reason why the engine could not be loaded, or None."""

pristine: dict[type, Namespace] = {}
"""Upstream's classes as they were defined: their attributes by class."""

modules: dict[str, Namespace] = {}
"""The live namespaces of upstream's modules, by their short names."""

defined: dict[str, Namespace] = {}
"""Copies of these namespaces from the time when upstream had defined them. Also one of the standard
library's ``copy``, which upstream calls to construct a schema."""

replaced: list[tuple[Namespace, str, object, object]] = []
"""What the engine has replaced in other packages' modules, for ``unpatch`` to put back: namespace,
name, their function and ours."""


class HookTable(defaultdict):  # type: ignore[misc]
    """``Schema._hooks``: a schema class's hooks by tag. Its slots hold the engine's data about the
    class, so that iterating over the class does not show them."""

    __slots__ = ("blueprint", "examined")

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.blueprint: Any = None
        self.examined = 0

    def __repr__(self) -> str:
        return f"defaultdict({self.default_factory!r}, {dict.__repr__(self)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return defaultdict, (self.default_factory,), None, None, iter(self.items())


# Attributes in which the interpreter and ``copy`` cache data in a class.
_NOTED_BY_PYTHON = frozenset(
    {
        "__annotate__",
        "__annotate_func__",
        "__annotations__",
        "__annotations_cache__",
        "__slotnames__",
    }
)


def has_kept(cls: type, attributes: Namespace) -> bool:
    """Return whether no attribute of this class, bases excluded, was added, replaced or removed
    since it was defined with these attributes."""
    # Copy the dictionary at once: another thread may be changing the class.
    now = vars(cls).copy()
    return all(now.get(name) is value for name, value in attributes.items()) and all(
        name in attributes or name in _NOTED_BY_PYTHON for name in now
    )


def loaded(schema_namespace: Namespace) -> None:
    """Record the attributes of upstream's classes before user code can replace a method.

    Called as the last statement of marshmallow's ``schema`` module. If a release has other modules
    than the known ones, the engine is not used.
    """
    try:
        _keep(schema_namespace)
    except (AttributeError, KeyError) as error:
        for kept in (modules, defined, pristine):
            kept.clear()
        without_engine(f"its modules are not those that are known ({error})")


_MODULES = "schema", "fields", "utils", "validate", "error_store", "orderedset", "exceptions"


def _keep(schema_namespace: Namespace) -> None:
    package = schema_namespace["__name__"].rpartition(".")[0]
    for name in _MODULES:
        modules[name] = sys.modules[f"{package}.{name}"].__dict__
    defined.update({name: dict(namespace) for name, namespace in modules.items()})
    defined["copy"] = dict(vars(schema_namespace["copy"]))
    pristine.clear()
    for namespace in modules.values():
        owner = namespace["__name__"]
        for value in namespace.values():
            if isinstance(value, type) and value.__module__ == owner:
                pristine[value] = dict(vars(value))


_SCHEMA = "marshmallow.schema.Schema"


def full_name(found: Any) -> str:
    """Return the name of a class or function, for people. A class that ``type()`` makes in a
    namespace without ``__name__`` has no module."""
    return f"{getattr(found, '__module__', None)}.{found.__qualname__}"


def owner_of(schema: Any) -> type | None:
    """Return the ``Schema`` from which a schema's class is derived: that of our copy or, if the
    redirect is off, of the real marshmallow. Return None for anything else."""
    for base in type(schema).__mro__:
        if f"{base.__module__}.{base.__name__}".removeprefix("althaia.") == _SCHEMA:
            return base
    return None


unknown: frozenset[str] = frozenset()
"""The functions of upstream that differ from those for which our code was written, by name as in
the semantic lock (``fields.Integer._validated``)."""

variants: dict[str, str] = {}
"""The functions of upstream with another, known meaning, and the name of the variant."""

release: str | None = None
"""The release that is served, if it is not the compiled copy; "unknown" if it has no metadata."""


def serve(version: str | None, unread: Iterable[str], differing: dict[str, str]) -> None:
    """Record what is served, before it is imported: what :data:`release`, :data:`unknown` and
    :data:`variants` are from now on."""
    global release, unknown, variants
    release, unknown, variants = version, frozenset(unread), differing


HOOK_FUNCTIONS = frozenset(
    {"schema.SchemaMeta.resolve_hooks", "decorators.set_hook", "decorators.MarshmallowHook"}
)
"""The functions of upstream that :func:`resolve_hooks` replaces, or on which it depends."""


def resolve_hooks(cls: type) -> Any:
    """First statement of ``SchemaMeta.resolve_hooks``: return the hooks of a new schema class by
    tag.

    Upstream looks every name of ``dir(cls)`` up in every base. The original attributes of
    ``object`` and ``Schema`` are skipped here, because none of them is a hook.
    """
    created(cls)
    if not modules or type(cls).__dir__ is not type.__dir__:
        return DECLINED
    if not HOOK_FUNCTIONS.isdisjoint(unknown):
        return DECLINED
    known = pristine[defined["schema"]["Schema"]]
    attributes: Namespace = {}
    # The last class is object.
    for base in cls.__mro__[-2::-1]:
        attributes.update(base.__dict__)
    names = [name for name in attributes if known.get(name) is not attributes[name]]
    try:
        names.sort()
    except TypeError:  # Upstream's own sort raises, with its own message.
        return DECLINED
    hooks = HookTable(list)
    for name in names:
        tagged: Any = getattr(attributes[name], "__marshmallow_hook__", DECLINED)
        if tagged is DECLINED:
            continue
        for tag, config in tagged.items():
            if type(config) is list:
                hooks[tag].extend((name, many, kwargs) for many, kwargs in config)
            else:  # Releases before 3.22 keep the options with the function.
                hooks[tag].append(name)
    return hooks


def hooks_of(schema: Any, tag: str) -> list[tuple[str, bool, dict[str, Any]]]:
    """Return the hooks of a schema as triples of the method's name, whether it is given a whole
    collection, and its options.

    :param tag: such as ``pre_dump``.
    """
    found = []
    for key in (tag, (tag, True), (tag, False)):
        for hook in schema._hooks.get(key, ()):
            if type(hook) is str:  # Before 3.22 it is a name, and the key says what the hook gets.
                options = getattr(schema, hook).__marshmallow_hook__[key]
                hook = (hook, key == (tag, True), options)
            found.append(hook)
    return found


number_of_field = _count().__next__
"""What each new field gets as ``_creation_index`` in releases before 3.20. Upstream counts in the
class, which would change its version."""


def created(cls: type) -> None:
    """Load the engine after the first schema class of a user was created. The engine replaces this
    function.

    Nothing is loaded for ``Schema`` itself, which is created before upstream's modules are known.
    """
    if modules:
        load_engine()


def binding(schema: Any) -> bool:
    """First statement of ``Schema._init_fields``: return whether the fields are created later, when
    they are first read. The engine replaces this function."""
    return False


def connect(connector: Connector) -> None:
    """Register the function that loads the engine when a user's first schema class is created.

    ``connector`` is called once, without arguments. It must replace the hooks in this module.
    """
    _connectors[:] = [connector]


def load_engine() -> None:
    """Load the engine, unless this was tried before.

    There is only one attempt, because an extension module cannot be executed again after an
    interruption. If it fails, upstream's own code runs from then on; a warning and
    :func:`althaia.info` give the reason. Exceptions that only a signal handler can have raised
    propagate. Calls of other threads run upstream's code meanwhile. Nothing is tried while the
    interpreter shuts down, because imports fail then.
    """
    global failure
    if sys.is_finalizing() or sys.meta_path is None or not _connectors:
        return
    try:
        # In here, because a signal handler may raise as soon as the connector is taken.
        try:
            connector = _connectors.pop()
        except IndexError:
            return
        failure = RuntimeError("the engine is being loaded, or was when this process was forked")
        connector()
    except BaseException as error:
        failure = error
        without_engine()
        if type(error).__module__ != "builtins" or isinstance(error, _OF_SIGNALS):
            raise
        warn(
            "althaia has no plans and marshmallow's own code runs: its engine could not be loaded, "
            f"{type(error).__name__}: {error}",
            RuntimeWarning,
            stacklevel=5,
        )
    else:
        failure = None


def warn(text: str, category: type[Warning], stacklevel: int = 2) -> None:
    """Warn. Where warnings are errors, print the text instead: an import of somebody's must not
    fail because althaia has something to say."""
    try:
        # Not by the module warnings, because importing it may fail.
        _warn(text, category, stacklevel)
    except Warning:
        if sys.stderr is not None:
            print(f"{category.__name__}: {text}", file=sys.stderr)


_OF_SIGNALS = (KeyboardInterrupt, SystemExit, TimeoutError)


no_engine = ""
"""The reason why this release has no engine, else ""."""


def without_engine(why: str = "") -> None:
    """Let each hook return at once from now on: there is no engine, or it is switched off."""
    global no_engine
    no_engine = why
    globals().update(_OWN)


def _declined(*args: Any) -> Any:
    return DECLINED


def _not_made(*args: Any) -> bool:
    return False


def _copied_fields(declared: Any, deepcopy: Any) -> Any:
    return deepcopy(declared)


# The engine replaces these functions. Its own return what the method that calls them is to return,
# or DECLINED; ``construct`` returns whether the instance is complete, ``copied_fields`` the copies.
#
# First statement of ``Schema.__init__``: ``construct(schema, only, exclude, many, load_only,
# dump_only, partial, unknown, context=None)``.
construct = _not_made
# In ``Schema.__init__`` in the place of ``copy.deepcopy(self._declared_fields)``:
# ``copied_fields(declared, copy.deepcopy)``.
copied_fields = _copied_fields
# First statement of ``Schema.dump``: ``dump(schema, obj, many)``, hooks included.
dump = _declined
# First statement of ``Schema.dumps``: ``dumps(schema, obj, args, many, options)``. For
# ``althaia.json.dump_bytes`` a sixth argument, True, asks for bytes.
dumps = _declined
# First statement of ``Schema._serialize``: ``serialize(schema, obj, many)``.
serialize = _declined
# First statement of ``Schema._do_load``, hooks included:
# ``load(schema, data, many, partial, unknown, postprocess)``.
load = _declined
# First statement of ``Schema.loads``: ``loads(schema, text, many, partial, unknown, options)``. The
# options are those for the ``loads`` of the render module.
loads = _declined
# First statement of ``Schema.validate``: ``validate(schema, data, many, partial)``.
validate = _declined
# In ``Schema._deserialize``, before ``if many:``:
# ``deserialize(schema, data, error_store, many, partial, unknown, index)``.
deserialize = _declined

_OWN = {
    "construct": construct,
    "copied_fields": copied_fields,
    "dump": dump,
    "dumps": dumps,
    "serialize": serialize,
    "load": load,
    "loads": loads,
    "validate": validate,
    "deserialize": deserialize,
}
"""The hooks that return a result, as they are before the engine is loaded."""
