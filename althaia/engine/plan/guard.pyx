# cython: language_level=3, freethreading_compatible=True, boundscheck=False, wraparound=False
"""What a plan was built from, and whether it still holds.

A guard compares by identity and owns what it compares with, so that an address can
never be reused under it. It watches

- each type that a plan asked a method or a class attribute of, by its version tag,
  which CPython drops when the type or a base of it changes;
- each field: its type and *all* of its instance dictionary, so that no attribute can
  be forgotten;
- the mapping of fields that the plan was made from: its keys, values and their order;
- lists behind a field (validators, inner fields), item by item;
- single entries of other dictionaries (module globals, format tables);
- the schema's own instance dictionary, as far as it shadows what the plan rests on.
"""

cimport cython
from cpython.dict cimport PyDict_Copy
from cpython.mem cimport PyMem_Calloc, PyMem_Free
from cpython.tuple cimport PyTuple_GET_ITEM
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


def facts():
    """What holds of this CPython, by name; the plans use what does, and a public way elsewhere.

    >>> facts()["type version tags"]
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


def snapshot(mapping, unwatched=()):
    """The entries of an exact dictionary as one flat tuple: key, value, key, …

    :param unwatched: keys whose value may be any; they have to be there.
    """
    cdef list flat = []
    if not ALTHAIA_HAS_GIL and type(mapping) is dict:
        # Another thread may change it while it is gone through.
        mapping = PyDict_Copy(mapping)
    for key, value in mapping.items():
        flat.append(key)
        flat.append(ANY if key in unwatched else value)
    return tuple(flat)


def state_of(obj):
    """A copy of an object's instance dictionary, made without running code.

    :raises TypeError: it has none, or one that runs code when it is copied.
    """
    state = althaia_dict_or_none(obj)
    if type(state) is not dict:
        raise TypeError(f"the instance dictionary of a {type(obj).__qualname__} is no plain one")
    return PyDict_Copy(state)


cdef tuple by_mapping(tuple entries):
    """Watched entries as pairs of a dictionary and its keys with their values: what a dictionary's
    version says is asked once for all of them."""
    cdef dict found = {}
    for mapping, key, value in entries:
        found.setdefault(id(mapping), (mapping, []))[1].append((key, value))
    return tuple([(mapping, tuple(each)) for mapping, each in found.values()])


def type_tag(cls):
    """The version of a type, never the same again once it has changed; 0 where CPython gives
    it none any more."""
    return althaia_type_tag(cls)


cdef tuple shared_entry(object known, object field, object kind, object state, tuple entries):
    """What a guard keeps of a field; what its sibling keeps where that is the same."""
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


# Not cleared by the collector: its borrowed pointers live as long as its tuples. The cycle
# schema - dictionary - plan - field - schema is broken at the dictionary.
@cython.no_gc_clear
@cython.final
cdef class Guard:
    """What one plan rests on.

    Everything is given as it was *before* the plan's maker read it: a thread that changes
    something meanwhile leaves a guard that does not hold.

    :param schema_names: names whose presence in the schema's instance dictionary would
        change the plan, each with the value it was built from, or ``ABSENT``.
    :param members: the mapping of field names to fields (a ``dict`` or ``OrderedDict``).
    :param members_snapshot: what :func:`snapshot` made of it.
    :param types: every type the plan asked something of and its version, the schema's first.
    :param fields: every field the plan speaks for, inner ones too: the field, its type and
        the snapshot of its instance dictionary.
    :param lists: pairs of a list and its items as a tuple.
    :param entries: triples of a dictionary, a key and the expected value or ``ABSENT``.
    :param shared_entries: further ones as :func:`by_mapping` makes them, which other guards share.
    :param sibling: a guard of other plans of the schema, which watches mostly the same fields and
        shares what is equal.

    A type that CPython gives no version tag any more cannot be watched (:meth:`unwatchable`).
    Such a guard serves a declined plan only: that is right whatever becomes of the type.
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
        cdef Py_ssize_t i, size = len(self.lists)
        self.watched_lists = <althaia_watched_list*>PyMem_Calloc(
            size or 1, sizeof(althaia_watched_list)
        )
        if self.watched_lists is NULL:
            raise MemoryError
        self.list_count = size
        for i in range(size):
            found, items = <tuple>self.lists[i]
            self.watched_lists[i].list = <void*>found
            self.watched_lists[i].items = <void*>items
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
        """The first type that CPython gives no version tag, or None."""
        cdef Py_ssize_t i
        for i in range(len(self.types)):
            if self.watched_types[i].tag == 0:
                return self.types[i]
        return None

    cdef bint holds(self, object schema, object state):
        """Whether the schema and all that the plan rests on is as it was; never raises.

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
        """Whether a class is the schema's, and no type has changed since it was watched."""
        return cls is self.schema_type and althaia_types_hold(self.watched_types, self.type_count)

    cdef int watch_as_it_is(self, object cls) except -1:
        """Go on with the present version of the schema's class, which we have changed ourselves."""
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
        """Have all changes told; a dictionary that goes is told of too, so that its address may
        stand for it."""
        cdef Py_ssize_t i
        cdef tuple entry
        althaia_watch_dict(state)
        if self.members_plain:
            althaia_watch_dict(self.members)
        for i in range(len(self.entries)):
            entry = <tuple>PyTuple_GET_ITEM(self.entries, i)
            althaia_watch_dict(entry[0])
        return 0

    # Versions are written where they are seen to stand for what the guard expects.

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
            # Another thread changes it.
            return False
        size = len(now)
        if size != len(self.members_snapshot):
            return False
        for i in range(size):
            if now[i] is not self.members_snapshot[i]:
                return False
        return True

    def check(self, schema):
        """Whether the plan still holds for this schema (the slow way in, for people)."""
        state = althaia_dict_or_none(schema)
        return state is not None and self.holds(schema, state)

    def __repr__(self):
        return (
            f"<Guard of {len(self.types)} types, {len(self.fields)} fields, "
            f"{len(self.lists)} lists, {sum([len(each) for _, each in self.entries])} entries>"
        )


cdef object ABSENT_ = ABSENT
