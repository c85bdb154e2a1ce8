"""SQLAlchemy: attributes of mapped objects, rows of results.

``InstrumentedAttribute.__get__`` looks its key up in the instance dictionary. Only if the key is
absent (expired, deferred, not loaded) it calls the instance's state. The reader does the first half
and calls the descriptor for the rest. It also calls every other descriptor: hybrids, synonyms,
composites, association proxies, subclasses of ``InstrumentedAttribute``.

The reader is used only with code that was reviewed: the digests below are of 1.4, 2.0 and 2.1.
"""

import operator
import sys
from typing import Any

from althaia.engine.objects.known_code import is_known, is_known_module
from althaia.engine.objects.libraries import NoReader
from althaia.engine.objects.object_reader import DescriptorReader, RowReader, Watch

GET = frozenset({"771f48c168547000", "84ccaddb75a7e39c"})
"""``InstrumentedAttribute.__get__`` of 1.4, and of 2.0 and 2.1."""

GET_WITH_PERMISSION = frozenset({"771f48c168547000"})
"""Those that read ``_supports_population`` of the descriptor, which caches the value."""

ROWS = frozenset({"40a2a5f674aa55e0", "7962ddc815e2072f", "703b4c8cb4dd0b8e", "c8d76b65edfacb0e"})
"""``engine/_row_cy.py`` of 2.1, ``resultproxy.pyx`` (without its first comment before 2.0.24) and
``_py_row.py`` of 2.0."""

IMPLEMENTATIONS = ("ScalarAttributeImpl", "ScalarObjectAttributeImpl", "CollectionAttributeImpl")


def orm_readers() -> tuple[DescriptorReader, ...]:
    """Return the reader of mapped objects; none if the ORM is not imported.

    :raises NoReader: SQLAlchemy's code is not known.
    """
    attributes = sys.modules.get("sqlalchemy.orm.attributes")
    if attributes is None:
        return ()
    descriptor = getattr(attributes, "InstrumentedAttribute", None)
    get = vars(descriptor).get("__get__") if isinstance(descriptor, type) else None
    state = vars(attributes).get("instance_dict")
    implementations = tuple(
        vars(attributes).get(name) or vars(attributes).get(f"_{name}") for name in IMPLEMENTATIONS
    )
    if not is_known(get, GET):
        raise NoReader("the code of InstrumentedAttribute.__get__ is not known")
    if not _gives_instance_dict(state):
        raise NoReader("the instrumentation of classes is customised")
    if not all(_supports_population(cls) for cls in implementations):
        raise NoReader("the classes of attributes are not known")
    remembered = is_known(get, GET_WITH_PERMISSION)
    try:
        watch = Watch((descriptor, *implementations), ((vars(attributes), "instance_dict", state),))
        reader = DescriptorReader(
            watch,
            descriptor=descriptor,
            implementations=implementations,
            permission="_supports_population" if remembered else None,
        )
    except (AttributeError, ValueError) as error:
        raise NoReader(f"its classes cannot be watched: {error}") from error
    return (reader,)


def _gives_instance_dict(function: Any) -> bool:
    """Return whether this is ``operator.attrgetter("__dict__")``. Custom instrumentation replaces
    it."""
    return type(function) is operator.attrgetter and function.__reduce__() == (
        operator.attrgetter,
        ("__dict__",),
    )


def _supports_population(cls: Any) -> bool:
    return isinstance(cls, type) and getattr(cls, "supports_population", None) is True


def row_readers() -> tuple[RowReader, ...]:
    """Return the readers of ``Row`` and ``RowMapping``.

    :raises NoReader: SQLAlchemy's code is not known.
    """
    module = sys.modules.get("sqlalchemy.engine.row")
    base = getattr(module, "BaseRow", None)
    if not isinstance(base, type):
        return ()
    if not is_known_module(base.__module__, ROWS):
        raise NoReader(f"the code of {base.__module__} is not known")
    readers = []
    for name, by_attribute in (("Row", True), ("RowMapping", False)):
        cls = getattr(module, name, None)
        if not isinstance(cls, type) or not _reads_as_its_base(cls, base, by_attribute):
            continue
        indexes, data = vars(base).get("_key_to_index"), vars(base).get("_data")
        try:
            watch = Watch((cls, base))
        except ValueError:
            continue
        readers.append(
            RowReader(watch, cls=cls, indexes=indexes, data=data, by_attribute=by_attribute)
        )
    if not readers:
        raise NoReader("Row and RowMapping do not read as BaseRow does")
    return tuple(readers)


def _reads_as_its_base(cls: type, base: type, by_attribute: bool) -> bool:
    """Return whether a class of rows reads its values by the methods of its base."""
    method = "__getitem__" if by_attribute else "_get_by_key_impl_mapping"
    item = cls.__dict__.get("__getitem__", base.__dict__.get("__getitem__"))
    if item is not base.__dict__.get(method):
        return False
    return all(
        getattr(cls, name, None) is getattr(base, name, None)
        for name in ("__getattribute__", "__getattr__", "_data", "_key_to_index")
    )
