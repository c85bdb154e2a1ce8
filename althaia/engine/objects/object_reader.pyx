# cython: language_level=3, freethreading_compatible=True, boundscheck=False, wraparound=False
"""Object readers: read attributes of other libraries' objects where those libraries store them.

An attribute of an ORM's object is a descriptor written in Python. Calling it takes longer than all
the rest of dumping a field, although it mostly returns an entry of the instance dictionary. A
*reader* knows the types of one library. It decides, once per call and type, which attributes can be
read from that entry directly (a :class:`Reading`). Each read compares the object's type first. If
there is no entry (the attribute is expired, deferred or not loaded), the descriptor is called.

:mod:`althaia.engine.objects.libraries` lists the libraries.
"""

from types import GetSetDescriptorType, MemberDescriptorType

cimport cython
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.object cimport PyTypeObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from cpython.tuple cimport PyTuple_GET_ITEM

from althaia.cpython.primitives cimport (
    ALTHAIA_TYPE_TAG,
    althaia_cached_entry,
    althaia_get_value,
    althaia_has_inline_caches,
    althaia_inline_cache,
    althaia_same_entry,
    althaia_type_lookup,
    althaia_type_tag,
    althaia_types_hold,
)

from althaia.engine.objects.libraries import READERS, load_readers
from althaia.engine.plan cimport ABSENT


cdef extern from "althaia/cpython/object_slots.h":
    object althaia_described(object descriptor, object obj)
    void* althaia_instance_entry(object obj, str name) except? NULL
    bint althaia_has_no_items(PyTypeObject* type_)
    bint althaia_is_plain(object obj)
    void althaia_remember_plain(unsigned int tag)


cdef Py_ssize_t NOT_READ = -1
# The readers of a library are created again if its code has changed, but at most this many times.
cdef int MOST_EXAMINATIONS = 64


cdef from_new_reference(void* made):
    """Convert a new reference to a Cython object; NULL to None."""
    if made is NULL:
        return None
    value = <object>made
    Py_DECREF(value)
    return value


# ---- What readers depend on ---------------------------------------------------------


@cython.final
cdef class Watch:
    """Types and dictionary entries on which a reader depends.

    :param types: every class on which the reader depends, 16 at most.
    :param entries: triples of a dictionary, a key and the expected value.
    :raises ValueError: there are more types, or CPython has no type version for one of them.
    """

    def __init__(self, tuple types, tuple entries=()):
        cdef Py_ssize_t i
        if len(types) > 16:
            raise ValueError("more than 16 types cannot be watched")
        self.types = types
        self.entries = entries
        for i in range(len(types)):
            self.tags[i] = althaia_type_tag(types[i])
            if self.tags[i] == 0:
                raise ValueError(f"CPython gives {types[i]!r} no version")

    cdef bint holds(self) except -1:
        if not althaia_types_hold(self.types, self.tags):
            return False
        for mapping, key, value in self.entries:
            if not althaia_same_entry(mapping, key, value, ABSENT):
                return False
        return True


# ---- Readers ------------------------------------------------------------------------


cdef class Reader:
    """Reads objects of some types with the results of upstream's ``get_value``.

    :param watch: what the reader depends on; the reader is not used if this has changed.
    """

    def __init__(self, Watch watch):
        self.watch = watch

    cdef bint reads(self, cls):
        """Return whether it can read objects of this class."""
        return False

    cdef Py_ssize_t index_of(self, cls, str name) except -2:
        """Return the index of the attribute, or ``NOT_READ``."""
        return NOT_READ

    cdef Reading open(self, cls, tuple names):
        cdef Reading reading = open_reading(cls)
        cdef Py_ssize_t i, size = len(names)
        reading.reader = self
        reading.names = names
        reading.indexes = <Py_ssize_t*>PyMem_Malloc(sizeof(Py_ssize_t) * (size or 1))
        if reading.indexes is NULL:
            raise MemoryError
        for i in range(size):
            name = <object>PyTuple_GET_ITEM(names, i)
            reading.indexes[i] = NOT_READ if name is None else self.index_of(cls, <str>name)
        return reading

    cdef bint begin(self, Reading reading, obj):
        """Prepare for one object. Return False if it must be read as upstream does."""
        return True

    cdef void* get(
        self, Reading reading, obj, Py_ssize_t index, althaia_inline_cache* cache
    ) except? NULL:
        """Return the entry of the instance dictionary as a new reference; NULL without an error if
        the object itself must be read.

        :param index: the index of the name in the reading.
        :param cache: the inline cache of the calling step, or NULL.
        """
        name = <object>PyTuple_GET_ITEM(reading.names, index)
        cdef void* found
        if reading.has_inline_caches and cache is not NULL:
            found = althaia_cached_entry(obj, name, cache)
            if found is not NULL:
                return found
        return althaia_instance_entry(obj, <str>name)


cdef Reading open_reading(cls):
    """Return a reading for a type, without a reader."""
    cdef Reading reading = Reading.__new__(Reading)
    reading.cls = cls
    reading.tag = althaia_type_tag(cls)
    reading.has_inline_caches = althaia_has_inline_caches(cls)
    return reading


@cython.final
cdef class Reading:
    """How one call reads objects of one type: which names the reader reads, and where."""

    def __dealloc__(self):
        PyMem_Free(self.indexes)

    cdef value(self, obj, Py_ssize_t index, althaia_inline_cache* cache):
        """Return the value for the name at ``index``; ``NOT_THERE`` if the object itself must be
        read."""
        cdef void* found
        # User code that ran for another field may have changed the class, or the object's class.
        if (
            self.indexes[index] == NOT_READ
            or type(obj) is not self.cls
            or ALTHAIA_TYPE_TAG(self.cls) != self.tag
        ):
            return NOT_THERE
        found = self.reader.get(self, obj, index, cache)
        return NOT_THERE if found is NULL else from_new_reference(found)


# What a reading returns if the object itself must be read.
cdef object NOT_THERE = object()


@cython.final
cdef class DescriptorReader(Reader):
    """Reads attributes whose descriptors find their values in the instance dictionary.

    :param watch: see :class:`Reader`; includes the descriptors' type and the implementations'.
    :param descriptor: the descriptors' type, by identity.
    :param implementations: the types of ``impl`` for which the value may be taken.
    :param permission: an entry of the descriptor's instance dictionary that must be True; ``key``
        and ``impl`` are entries too. None if these two are in slots of the descriptor.
    :raises ValueError: the slots are not where they should be.
    """

    cdef object descriptor
    cdef tuple implementations
    cdef str permission
    # The descriptors of the slots.
    cdef object key_of, impl_of

    def __init__(self, Watch watch, *, descriptor, tuple implementations, str permission):
        Reader.__init__(self, watch)
        self.descriptor = descriptor
        self.implementations = implementations
        self.permission = permission
        if permission is None:
            self.key_of, self.impl_of = descriptor.key, descriptor.impl
            if not type(self.key_of) is type(self.impl_of) is MemberDescriptorType:
                raise ValueError(f"{descriptor!r} keeps key and impl in no slots")

    cdef bint reads(self, cls):
        # Attributes are read by object.__getattribute__, ``__dict__`` is the instance dictionary,
        # and ``obj[name]`` raises TypeError without running user code.
        return (
            althaia_has_no_items(<PyTypeObject*>cls)
            and type(althaia_type_lookup(cls, "__dict__")) is GetSetDescriptorType
        )

    cdef Py_ssize_t index_of(self, cls, str name) except -2:
        descriptor = althaia_type_lookup(cls, name)
        if type(descriptor) is not self.descriptor:
            return NOT_READ
        if self.permission is None:
            key = althaia_described(self.key_of, descriptor)
            impl = althaia_described(self.impl_of, descriptor)
        else:
            key = from_new_reference(althaia_instance_entry(descriptor, "key"))
            impl = from_new_reference(althaia_instance_entry(descriptor, "impl"))
            if from_new_reference(althaia_instance_entry(descriptor, self.permission)) is not True:
                return NOT_READ
        if type(impl) not in self.implementations or type(key) is not str or key != name:
            return NOT_READ
        return 0


@cython.final
cdef class RowReader(Reader):
    """Reads rows of a result: a tuple of values, and a dictionary from names to indexes that all
    rows of the result share.

    :param watch: see :class:`Reader`.
    :param cls: the class of rows, by identity.
    :param indexes: the class's descriptor of the dictionary.
    :param data: the class's descriptor of the tuple.
    :param by_attribute: whether the values are read as attributes, over which class attributes take
        precedence; otherwise they are read as items.
    """

    cdef object cls, indexes_of, data_of
    cdef bint by_attribute

    def __init__(self, Watch watch, *, cls, indexes, data, bint by_attribute):
        Reader.__init__(self, watch)
        self.cls = cls
        self.indexes_of = indexes
        self.data_of = data
        self.by_attribute = by_attribute

    cdef bint reads(self, cls):
        return cls is self.cls

    cdef bint begin(self, Reading reading, obj):
        source = althaia_described(self.indexes_of, obj)
        if source is not reading.source:
            self.find_places(reading, source)
        reading.data = althaia_described(self.data_of, obj)
        return type(reading.data) is tuple

    cdef int find_places(self, Reading reading, source):
        """Find the indexes of the names in the rows of one result."""
        cdef Py_ssize_t i
        for i in range(len(reading.names)):
            name = reading.names[i]
            reading.indexes[i] = NOT_READ
            if name is None or type(source) is not dict:
                continue
            if self.by_attribute and (name[:1] in ("", "_") or hasattr(self.cls, name)):
                continue
            index = (<dict>source).get(name)
            if type(index) is int and index >= 0:
                reading.indexes[i] = index
        reading.source = source

    cdef void* get(
        self, Reading reading, obj, Py_ssize_t index, althaia_inline_cache* cache
    ) except? NULL:
        cdef tuple data = <tuple>reading.data
        if reading.indexes[index] >= len(data):
            return NULL
        value = <object>PyTuple_GET_ITEM(data, reading.indexes[index])
        Py_INCREF(value)
        return <void*>value


# ---- Finding a reader ---------------------------------------------------------------


cdef class Entry:
    """A library and its readers.

    :param marker: the name of a class attribute that the library's types have.
    :param loader: the arguments of :func:`libraries.load_readers`.
    """
    cdef str marker
    cdef tuple loader
    cdef tuple readers
    cdef int examined

    def __init__(self, str marker, tuple loader):
        self.marker = marker
        self.loader = loader

    cdef tuple now(self):
        """Return the readers; create them again if something on which they depend has changed."""
        cdef Reader reader
        cdef tuple readers, _before
        with cython.critical_section(self):
            readers = self.readers
        if readers:
            for reader in readers:
                if not reader.watch.holds():
                    break
            else:
                return readers
        if self.examined >= MOST_EXAMINATIONS:
            return ()
        self.examined += 1
        readers = tuple(load_readers(*self.loader))
        with cython.critical_section(self):
            _before, self.readers = self.readers, readers
        return readers


cdef list registered = [Entry(marker, loader[:2]) for marker, loader in READERS.items()]


cdef Reader reader_of(cls):
    """Return the reader for a type, or None."""
    cdef Entry entry
    cdef Reader reader
    cdef bint marked = False
    cdef unsigned int tag = althaia_type_tag(cls)
    if not tag:
        # Nothing would show a later change of the type.
        return None
    for entry in registered:
        if althaia_type_lookup(cls, entry.marker) is not None:
            marked = True
            for reader in entry.now():
                if reader.reads(cls):
                    return reader
    if not marked:
        althaia_remember_plain(tag)
    return None


cdef bint has_no_reader(obj) noexcept:
    """Return whether objects of this type are known to have no reader."""
    return althaia_is_plain(obj)


@cython.final
cdef class Readings:
    """How one call reads objects of each type, for the names of one plan."""

    def __cinit__(self):
        self.known = {}

    cdef Reading of(self, tuple names, obj):
        """Return the reading for an object's type, prepared for this object; None if it must be
        read as upstream does.

        :param names: the name that each step reads, None for a step that reads none.
        """
        cdef Reading reading = self.last
        if (
            reading is None
            or type(obj) is not reading.cls
            or ALTHAIA_TYPE_TAG(reading.cls) != reading.tag
        ):
            reading = self.last = self.decided(names, type(obj))
        if reading.reader is None:
            return None
        return reading if reading.reader.begin(reading, obj) else None

    cdef Reading decided(self, tuple names, cls):
        # The key is not the class itself, because a metaclass may define __hash__ and __eq__. The
        # reading keeps the class alive, so that no other class gets its id.
        key = id(cls)
        cdef Reading reading = <Reading>self.known.get(key)
        cdef Reader reader
        if reading is None or ALTHAIA_TYPE_TAG(cls) != reading.tag:
            reader = reader_of(cls)
            reading = open_reading(cls) if reader is None else reader.open(cls, names)
            self.known[key] = reading
        return reading


cdef read_once(obj, str name, missing):
    """Read one attribute of an object on a dotted path, as upstream's ``get_value`` does."""
    cdef Reader reader
    cdef Reading reading
    if not althaia_is_plain(obj):
        reader = reader_of(type(obj))
        if reader is not None:
            reading = reader.open(type(obj), (name,))
            if reader.begin(reading, obj):
                value = reading.value(obj, 0, NULL)
                if value is not NOT_THERE:
                    return value
    return althaia_get_value(obj, <void*>name, <void*>missing)
