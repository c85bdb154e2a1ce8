"""Whether a test has put mocks in the place of what the engine takes from the standard library.

The engine is loaded by the first dump or load, and keeps what it finds then. Where that may be
exchanged for good (``json``, ``datetime``, ``decimal``, ``uuid``, ``copy``) it takes care of that
itself; the rest is looked at here, before.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Final

TAKEN: Final = {
    "abc": ("ABCMeta", "abstractmethod"),
    "collections": ("OrderedDict", "defaultdict", "namedtuple"),
    "collections.abc": ("Callable", "Hashable", "Iterable", "Iterator", "Mapping"),
    "contextlib": ("contextmanager",),
    "copyreg": (),
    "dataclasses": ("dataclass",),
    "email.utils": (),
    "enum": ("Enum", "IntEnum", "IntFlag"),
    "functools": ("cached_property", "lru_cache", "partial"),
    "importlib": ("import_module",),
    "inspect": ("signature",),
    "itertools": ("zip_longest",),
    "math": (),
    "re": ("compile",),
    "types": (
        "BuiltinFunctionType",
        "FunctionType",
        "GetSetDescriptorType",
        "MethodDescriptorType",
        "MethodType",
        "ModuleType",
    ),
    "typing": ("NamedTuple",),
    "weakref": ("ref",),
}
"""Modules, and the functions and classes that our modules use while they are executed."""

# Not by the names in types, which may be mocks as well.
_MODULE: Final = type(sys)
_FUNCTIONS: Final = (type(lambda: None), type(len))


def found() -> list[str]:
    """What is no function, class or module any more, by its full name: ``["re.compile"]``."""
    names = []
    for name, attributes in TAKEN.items():
        # One that has not been imported is as it was shipped.
        if name not in sys.modules:
            continue
        module = sys.modules[name]
        if not issubclass(type(module), _MODULE):
            names.append(name)
            continue
        values = vars(module)
        names += [f"{name}.{each}" for each in attributes if _is_mock(values.get(each))]
    return names


def _is_mock(value: object) -> bool:
    if issubclass(type(value), type):
        return False
    # create_autospec() makes functions, and puts the mock there.
    return type(value) not in _FUNCTIONS or hasattr(value, "mock")
