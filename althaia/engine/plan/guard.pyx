# cython: language_level=3, freethreading_compatible=True, boundscheck=False, wraparound=False
"""Guards: check that everything that a plan was built from is unchanged.

A guard compares objects by identity. It owns references to them, so that no other object can get
the address of one. It watches

- each type from which the plan read a method or a class attribute, by its type version, which
  CPython resets when the type or one of its bases changes;
- each field: its type and *all* of its instance dictionary, so that no attribute can be forgotten;
- the mapping of fields that the plan was built from: its keys, its values and their order;
- the lists of a field (validators, inner fields), item by item;
- single entries of other dictionaries (module globals, format tables);
- the names in the schema's instance dictionary that override class attributes used by the plan.
"""

cimport cython
from cpython.dict cimport PyDict_Copy, PyDict_Next
from cpython.mem cimport PyMem_Calloc, PyMem_Free
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_New, PyTuple_SET_ITEM
from libc.stdint cimport uint64_t

from althaia.cpython.primitives cimport (
    ALTHAIA_DICT_VERSIONS,
    ALTHAIA_DICT_WATCHERS,
    ALTHAIA_ENTRIES,
    ALTHAIA_HAS_GIL,
    ALTHAIA_INLINE_VALUES,
    ALTHAIA_INLINE_WATCHERS,
    ALTHAIA_SHARED_VALUES,
    ALTHAIA_TYPE_TAGS,
    althaia_all_hold,
    althaia_copy_inline,
    althaia_dict_or_none,
    althaia_epoch,
    althaia_features,
    althaia_has_noted_version,
    althaia_lists_hold,
    althaia_note_version,
    althaia_same_entries,
    althaia_same_entry,
    althaia_start_watching,
    althaia_trusted_version,
    althaia_try_features,
    althaia_type_tag,
    althaia_types_hold,
    althaia_watch_dict,
    althaia_watched,
    althaia_watched_list,
    althaia_watched_place,
    althaia_watched_type,
)

cdef extern from "Python.h":
    object PyObject_GenericGetDict(object obj, void* context)


althaia_try_features()
althaia_start_watching()


def features():
    """Return by name which features of CPython work here. Plans replace the others by the public
    C API.

    >>> features()["type version tags"]
    True
    """
    return {
        "global interpreter lock": bool(ALTHAIA_HAS_GIL),
        "values of shared-key dictionaries": bool(althaia_features & ALTHAIA_SHARED_VALUES),
        "values in instances": bool(althaia_features & ALTHAIA_INLINE_VALUES),
        "places of keys and attributes": bool(althaia_features & ALTHAIA_ENTRIES),
        "dictionary versions": bool(althaia_features & ALTHAIA_DICT_VERSIONS),
        "dictionary watchers": bool(althaia_features & ALTHAIA_DICT_WATCHERS),
        "watchers of values in instances": bool(althaia_features & ALTHAIA_INLINE_WATCHERS),
        "type version tags": bool(althaia_features & ALTHAIA_TYPE_TAGS),
        "lazy instances": bool(ALTHAIA_HAS_GIL),
    }


class _Marker:
    __slots__ = ("text",)

    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return self.text


ANY = _Marker("<any value>")
ABSENT = _Marker("<absent>")


cpdef tuple snapshot(mapping, unwatched=()):
    """Return the entries of a dictionary as one flat tuple: key, value, key, …

    :param unwatched: keys that must exist, but may have any value.
    """
    cdef list flat = []
    if type(mapping) is dict:
        if ALTHAIA_HAS_GIL and not unwatched:
            return flat_tuple(<dict>mapping)
        # Iterate over a copy: another thread may change the dictionary.
        mapping = PyDict_Copy(mapping)
    for key, value in mapping.items():
        flat.append(key)
        flat.append(ANY if key in unwatched else value)
    return tuple(flat)


cdef tuple flat_tuple(dict mapping):
    """Return the entries as :func:`snapshot` does. No other code runs meanwhile."""
    cdef tuple flat = PyTuple_New(2 * len(mapping))
    cdef Py_ssize_t at = 0, i = 0
    cdef PyObject *key
    cdef PyObject *value
    while PyDict_Next(mapping, &at, &key, &value):
        Py_INCREF(<object>key)
        PyTuple_SET_ITEM(flat, i, <object>key)
        Py_INCREF(<object>value)
        PyTuple_SET_ITEM(flat, i + 1, <object>value)
        i += 2
    return flat


cpdef dict state_of(obj):
    """Return a copy of an object's instance dictionary without running user code.

    :raises TypeError: it has none, or its type is not exactly dict, so that copying may run code.
    """
    state = althaia_dict_or_none(obj)
    if type(state) is not dict:
        raise TypeError(f"the instance dictionary of a {type(obj).__qualname__} is no plain one")
    return PyDict_Copy(state)


cdef tuple by_mapping(tuple entries):
    """Group watched entries by dictionary: pairs of a dictionary and its keys with their values.

    The guard then compares the version of each dictionary once, for all its entries.
    """
    cdef dict found = {}
    for mapping, key, value in entries:
        found.setdefault(id(mapping), (mapping, []))[1].append((key, value))
    return tuple([(mapping, tuple(each)) for mapping, each in found.values()])


cdef tuple shared_entry(object known, object field, object kind, object state, tuple entries):
    """Return a guard's record of a field. Return the sibling guard's own tuple if it is equal, to
    save memory."""
    cdef tuple theirs = <tuple>known
    cdef tuple watched
    cdef Py_ssize_t i, size = len(entries)
    if theirs is not None and theirs[0] is field and theirs[1] is kind and theirs[2] is state:
        watched = <tuple>theirs[3]
        if len(watched) == size:
            for i in range(size):
                if watched[i] is not entries[i]:
                    break
            else:
                return theirs
    return (field, kind, state, entries)


# The GC must not clear a guard, because its borrowed pointers are valid only as long as its tuples.
# It breaks the cycle schema - dictionary - plan - field - schema at the dictionary.
@cython.no_gc_clear
@cython.final
cdef class Guard:
    """Everything that one plan depends on.

    All arguments are recorded *before* the analysis reads the objects. If another thread changes
    one meanwhile, the guard does not hold.

    :param schema_names: names whose presence in the schema's instance dictionary would
        change the plan, each with the value it was built from, or ``ABSENT``.
    :param members: the mapping of field names to fields (a ``dict`` or ``OrderedDict``).
    :param members_snapshot: the :func:`snapshot` of it.
    :param types: every type that the plan depends on with its type version, the schema's first.
    :param fields: every field of the plan, inner ones too: the field, its type and the snapshot of
        its instance dictionary.
    :param lists: one flat tuple: a list, its items as a tuple, the next list, …
    :param entries: triples of a dictionary, a key and the expected value or ``ABSENT``.
    :param shared_entries: further entries, grouped by :func:`by_mapping`, that other guards share.
    :param sibling: the guard of another plan of the schema, which watches mostly the same fields;
        equal records are shared with it.

    A type for which CPython has no type version left cannot be watched (:meth:`unwatchable`). Such
    a guard may belong to a declined plan only, which stays correct if the type changes.
    """

    def __cinit__(
        self, tuple schema_names, members, tuple members_snapshot, tuple types,
        tuple fields, tuple lists, tuple entries, tuple shared_entries=(), Guard sibling=None,
    ):
        self.schema_type = types[0][0]
        self.schema_names = schema_names
        self.members = members
        self.members_plain = type(members) is dict
        self.members_snapshot = members_snapshot
        self.types = tuple([cls for cls, _ in types])
        self.lists = lists
        self.entries = shared_entries + by_mapping(entries) if entries else shared_entries
        self._watch_types(types)
        self._watch_fields(fields, sibling)
        self._watch_lists()
        self._watch_entries()

    cdef int _watch_types(self, tuple types) except -1:
        cdef Py_ssize_t i, size = len(self.types)
        self.watched_types = <althaia_watched_type*>PyMem_Calloc(
            size, sizeof(althaia_watched_type)
        )
        if self.watched_types is NULL:
            raise MemoryError
        self.type_count = size
        for i in range(size):
            self.watched_types[i].type = <void*>PyTuple_GET_ITEM(self.types, i)
            self.watched_types[i].tag = types[i][1]
        return 0

    cdef int _watch_fields(self, tuple fields, Guard sibling) except -1:
        cdef Py_ssize_t i, size = len(fields)
        cdef list owned = []
        cdef dict known = {}
        if sibling is not None:
            known = {id((<tuple>entry)[0]): entry for entry in sibling.fields}
        self.watched = <althaia_watched*>PyMem_Calloc(size or 1, sizeof(althaia_watched))
        if self.watched is NULL:
            raise MemoryError
        self.watched_count = size
        for i in range(size):
            field, kind, entries = fields[i]
            state = PyObject_GenericGetDict(field, NULL)
            entry = shared_entry(known.get(id(field)), field, kind, state, entries)
            entries = entry[3]
            owned.append(entry)
            self.watched[i].object = <void*>field
            self.watched[i].type = <void*>(<tuple>entry)[1]
            self.watched[i].dict = <void*>state
            self.watched[i].place = althaia_watched_place(field, state)
            self.watched[i].snapshot = <void*>(<tuple>entry)[3]
            if althaia_same_entries(state, entries, ANY):
                self.watched[i].copy = althaia_copy_inline(field, entries, ANY)
        self.fields = tuple(owned)
        return 0

    cdef int _watch_lists(self) except -1:
        cdef Py_ssize_t i, size = len(self.lists) // 2
        self.watched_lists = <althaia_watched_list*>PyMem_Calloc(
            size or 1, sizeof(althaia_watched_list)
        )
        if self.watched_lists is NULL:
            raise MemoryError
        self.list_count = size
        for i in range(size):
            self.watched_lists[i].list = <void*>PyTuple_GET_ITEM(self.lists, 2 * i)
            self.watched_lists[i].items = <void*>PyTuple_GET_ITEM(self.lists, 2 * i + 1)
        return 0

    cdef int _watch_entries(self) except -1:
        cdef Py_ssize_t size = len(self.entries)
        self.entry_versions = <uint64_t*>PyMem_Calloc(size or 1, sizeof(uint64_t))
        if self.entry_versions is NULL:
            raise MemoryError
        return 0

    def __dealloc__(self):
        cdef Py_ssize_t i
        for i in range(self.watched_count):
            PyMem_Free(self.watched[i].copy)
        PyMem_Free(self.watched_types)
        PyMem_Free(self.watched)
        PyMem_Free(self.watched_lists)
        PyMem_Free(self.entry_versions)

    def unwatchable(self):
        """Return the first type without a type version, or None."""
        cdef Py_ssize_t i
        for i in range(len(self.types)):
            if self.watched_types[i].tag == 0:
                return self.types[i]
        return None

    cdef bint holds(self, object schema, object state):
        """Return whether the schema and everything that the plan depends on is unchanged. Never
        raises.

        ``state`` is the schema's instance dictionary.
        """
        return (
            type(schema) is self.schema_type
            and althaia_types_hold(self.watched_types, self.type_count)
            and self._same_dictionaries(state)
            and althaia_all_hold(self.watched, self.watched_count, ANY)
            and althaia_lists_hold(self.watched_lists, self.list_count)
        )

    cdef bint watches(self, object cls) noexcept:
        """Return whether a class is the schema's and no watched type has changed."""
        return cls is self.schema_type and althaia_types_hold(self.watched_types, self.type_count)

    cdef int watch_class(self, object cls) except -1:
        """Record the present type version of the schema's class, because the engine itself has
        changed the class."""
        self.watched_types[0].tag = althaia_type_tag(cls)
        return 0

    cdef bint _same_dictionaries(self, object state):
        cdef uint64_t epoch = althaia_epoch
        if epoch != 0:
            if self.epoch == epoch and self.state == <void*>state:
                return True
            self._watch_dictionaries(state)
        if not (self._same_names(state) and self._same_members() and self._same_entries()):
            return False
        if self.members_plain and epoch != 0:
            self.epoch = epoch
            self.state = <void*>state
        return True

    cdef int _watch_dictionaries(self, object state) except -1:
        """Watch all dictionaries. CPython also calls the watcher when a dictionary is freed, so
        that comparing the address of one is safe."""
        cdef Py_ssize_t i
        cdef tuple entry
        althaia_watch_dict(state)
        if self.members_plain:
            althaia_watch_dict(self.members)
        for i in range(len(self.entries)):
            entry = <tuple>PyTuple_GET_ITEM(self.entries, i)
            althaia_watch_dict(entry[0])
        return 0

    # The methods below store a dictionary's version after they have found the expected contents.

    cdef bint _same_names(self, object state):
        cdef Py_ssize_t i
        cdef tuple entry
        cdef uint64_t version = althaia_trusted_version(state)
        if althaia_has_noted_version(state, &self.state_version):
            return True
        for i in range(len(self.schema_names)):
            entry = <tuple>PyTuple_GET_ITEM(self.schema_names, i)
            if not althaia_same_entry(state, entry[0], entry[1], ABSENT_):
                return False
        althaia_note_version(&self.state_version, version)
        return True

    cdef bint _same_entries(self):
        cdef Py_ssize_t i
        cdef uint64_t version
        cdef tuple of_mapping, entry
        for i in range(len(self.entries)):
            of_mapping = <tuple>PyTuple_GET_ITEM(self.entries, i)
            if althaia_has_noted_version(of_mapping[0], &self.entry_versions[i]):
                continue
            version = althaia_trusted_version(of_mapping[0])
            for entry in <tuple>of_mapping[1]:
                if not althaia_same_entry(of_mapping[0], entry[0], entry[1], ABSENT_):
                    return False
            althaia_note_version(&self.entry_versions[i], version)
        return True

    cdef bint _same_members(self):
        cdef tuple now
        cdef uint64_t version
        cdef Py_ssize_t i, size
        if self.members_plain:
            if althaia_has_noted_version(self.members, &self.members_version):
                return True
            version = althaia_trusted_version(self.members)
            if not althaia_same_entries(self.members, self.members_snapshot, ANY):
                return False
            althaia_note_version(&self.members_version, version)
            return True
        try:
            now = snapshot(self.members)
        except RuntimeError:
            # Another thread changed it during the iteration.
            return False
        size = len(now)
        if size != len(self.members_snapshot):
            return False
        for i in range(size):
            if now[i] is not self.members_snapshot[i]:
                return False
        return True

    def check(self, schema):
        """Return whether the plan still holds for this schema. For tests and debugging."""
        state = althaia_dict_or_none(schema)
        return state is not None and self.holds(schema, state)

    def __repr__(self):
        return (
            f"<Guard of {len(self.types)} types, {len(self.fields)} fields, "
            f"{len(self.lists) // 2} lists, {sum([len(each) for _, each in self.entries])} entries>"
        )


cdef object ABSENT_ = ABSENT
