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

from copy import deepcopy

cimport cython
from cpython.dict cimport PyDict_Copy
from cpython.mem cimport PyMem_Calloc, PyMem_Free, PyMem_Malloc
from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_GET_ITEM
from libc.stdint cimport uint64_t

from althaia.plans.primitives cimport (
    althaia_all_hold,
    althaia_copy_inline,
    althaia_dict_version,
    althaia_instance_dict,
    althaia_same_entries,
    althaia_same_entry,
    althaia_same_items,
    althaia_same_version,
    althaia_type_tag,
    althaia_watched,
)


cdef extern from *:
    """
    #define ALTHAIA_VERSION_TAG(type) (((PyTypeObject *)(type))->tp_version_tag)
    """
    unsigned int ALTHAIA_VERSION_TAG(object type_)
    Py_ssize_t Py_REFCNT(PyObject* obj)
    object PyObject_GenericGetDict(object obj, void* context)
    int PyObject_GenericSetAttr(object obj, object name, object value) except -1


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
    for key, value in mapping.items():
        flat.append(key)
        flat.append(ANY if key in unwatched else value)
    return tuple(flat)


def state_of(obj):
    """A copy of an object's instance dictionary, made without running code.

    :raises TypeError: it has none.
    """
    cdef void* state = althaia_instance_dict(obj)
    if state is NULL:
        raise TypeError(f"{obj!r} has no instance dictionary")
    return PyDict_Copy(<object>state)


def type_tag(cls):
    """The version of a type, never the same again once it has changed; 0 where CPython gives
    it none any more."""
    return althaia_type_tag(cls)


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
    :raises Unwatchable: where CPython gives a type no version tag any more.
    """

    def __cinit__(
        self, tuple schema_names, members, tuple members_snapshot, tuple types,
        tuple fields, tuple lists, tuple entries,
    ):
        self.schema_type = types[0][0]
        self.schema_names = schema_names
        self.members = members
        self.members_plain = type(members) is dict
        self.members_snapshot = members_snapshot
        self.types = tuple([cls for cls, _ in types])
        self.lists = lists
        self.entries = entries
        self._watch_types(types)
        self._watch_fields(fields)
        self._watch_entries()

    cdef int _watch_types(self, tuple types) except -1:
        cdef Py_ssize_t i, size = len(self.types)
        self.tags = <unsigned int*>PyMem_Malloc(sizeof(unsigned int) * size)
        if self.tags is NULL:
            raise MemoryError
        for i in range(size):
            self.tags[i] = types[i][1]
        return 0

    cdef int _watch_fields(self, tuple fields) except -1:
        cdef Py_ssize_t i, size = len(fields)
        cdef list owned = []
        self.watched = <althaia_watched*>PyMem_Calloc(size or 1, sizeof(althaia_watched))
        if self.watched is NULL:
            raise MemoryError
        self.watched_count = size
        for i in range(size):
            field, kind, entries = fields[i]
            state = PyObject_GenericGetDict(field, NULL)
            entry = (field, kind, state, entries)
            owned.append(entry)
            self.watched[i].object = <void*>field
            self.watched[i].type = <void*>(<tuple>entry)[1]
            self.watched[i].dict = <void*>state
            self.watched[i].snapshot = <void*>(<tuple>entry)[3]
            if althaia_same_entries(state, entries, ANY):
                self.watched[i].copy = althaia_copy_inline(field, entries, ANY)
        self.fields = tuple(owned)
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
        PyMem_Free(self.tags)
        PyMem_Free(self.watched)
        PyMem_Free(self.entry_versions)

    def unwatchable(self):
        """The first type that CPython gives no version tag, or None."""
        cdef Py_ssize_t i
        for i in range(len(self.types)):
            if self.tags[i] == 0:
                return self.types[i]
        return None

    cdef bint holds(self, object schema, object state):
        """Whether the schema and all that the plan rests on is as it was; never raises.

        ``state`` is the schema's instance dictionary.
        """
        cdef Py_ssize_t i, size
        cdef tuple entry
        if type(schema) is not self.schema_type:
            return False
        size = len(self.types)
        for i in range(size):
            if ALTHAIA_VERSION_TAG(<object>PyTuple_GET_ITEM(self.types, i)) != self.tags[i]:
                return False
        if not self._same_names(state):
            return False
        if not self._same_members():
            return False
        if not althaia_all_hold(self.watched, self.watched_count, ANY):
            return False
        size = len(self.lists)
        for i in range(size):
            entry = <tuple>self.lists[i]
            if not althaia_same_items(<list>entry[0], <tuple>entry[1]):
                return False
        return self._same_entries()

    # Versions are written where they are seen to stand for what the guard expects: only CPythons
    # with a GIL have any, and any thread writes what is true.

    cdef bint _same_names(self, object state):
        cdef Py_ssize_t i
        cdef tuple entry
        if althaia_same_version(state, self.state_version):
            return True
        for i in range(len(self.schema_names)):
            entry = <tuple>PyTuple_GET_ITEM(self.schema_names, i)
            if not althaia_same_entry(state, entry[0], entry[1], ABSENT_):
                return False
        self.state_version = althaia_dict_version(state)
        return True

    cdef bint _same_entries(self):
        cdef Py_ssize_t i
        cdef tuple entry
        for i in range(len(self.entries)):
            entry = <tuple>PyTuple_GET_ITEM(self.entries, i)
            if althaia_same_version(entry[0], self.entry_versions[i]):
                continue
            if not althaia_same_entry(entry[0], entry[1], entry[2], ABSENT_):
                return False
            self.entry_versions[i] = althaia_dict_version(entry[0])
        return True

    cdef bint _same_members(self):
        cdef tuple now
        cdef Py_ssize_t i, size
        if self.members_plain:
            if althaia_same_version(self.members, self.members_version):
                return True
            if not althaia_same_entries(self.members, self.members_snapshot, ANY):
                return False
            self.members_version = althaia_dict_version(self.members)
            return True
        now = snapshot(self.members)
        size = len(now)
        if size != len(self.members_snapshot):
            return False
        for i in range(size):
            if now[i] is not self.members_snapshot[i]:
                return False
        return True

    def check(self, schema):
        """Whether the plan still holds for this schema (the slow way in, for people)."""
        cdef void* state = althaia_instance_dict(schema)
        return state is not NULL and self.holds(schema, <object>state)

    def __repr__(self):
        return (
            f"<Guard of {len(self.types)} types, {len(self.fields)} fields, "
            f"{len(self.lists)} lists, {len(self.entries)} entries>"
        )


cdef object ABSENT_ = ABSENT


cdef class InstanceDict(dict):
    """A schema's instance dictionary, with room for its plans where no user's loop
    over ``vars(schema)`` meets them.

    It copies and pickles as the plain dictionary it stands for.
    """

    def __reduce_ex__(self, protocol):
        return dict, (), None, None, iter(self.items())

    def __copy__(self):
        return dict(self)

    def __deepcopy__(self, memo):
        plain = {}
        memo[id(self)] = plain
        for key, value in self.items():
            plain[deepcopy(key, memo)] = deepcopy(value, memo)
        return plain

    # Without the GIL another thread may drop a plan between the look and the reference.

    cdef object published(self, int direction):
        """The plan for this direction, or None."""
        with cython.critical_section(self):
            return self.load_plan if direction == LOAD else self.dump_plan

    cdef int publish(self, int direction, object plan) except -1:
        """The one store that others see; None drops."""
        with cython.critical_section(self):
            if direction == LOAD:
                self.load_plan = plan
            else:
                self.dump_plan = plan
        return 0

    def clear_plans(self):
        """Forget the plans."""
        self.publish(DUMP, None)
        self.publish(LOAD, None)


cdef InstanceDict instance_dict(object schema):
    """The schema's dictionary as an :class:`InstanceDict`, put in place where it is not yet
    one; None where somebody else holds the plain dictionary and would lose touch."""
    cdef InstanceDict replacement
    cdef object state
    try:
        state = PyObject_GenericGetDict(schema, NULL)
    except AttributeError:
        return None
    if type(state) is InstanceDict:
        return <InstanceDict>state
    # One reference is the schema's, one is ours.
    if type(state) is not dict or Py_REFCNT(<PyObject*>state) > 2:
        return None
    replacement = InstanceDict(state)
    # Not PyObject_GenericSetDict: on 3.13 attributes kept inline would go on living beside it.
    PyObject_GenericSetAttr(schema, "__dict__", replacement)
    return replacement


cdef InstanceDict existing_dict(object schema):
    """The schema's dictionary where it is an :class:`InstanceDict` already, else None."""
    cdef void* found = althaia_instance_dict(schema)
    if found is NULL or type(<object>found) is not InstanceDict:
        return None
    return <InstanceDict>found
