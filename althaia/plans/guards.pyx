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

from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF

from althaia.plans.primitives cimport (
    althaia_instance_dict,
    althaia_same_entries,
    althaia_same_entry,
    althaia_same_items,
    althaia_type_tag,
)


cdef extern from *:
    """
    #define ALTHAIA_VERSION_TAG(type) (((PyTypeObject *)(type))->tp_version_tag)
    """
    unsigned int ALTHAIA_VERSION_TAG(object type_)
    Py_ssize_t Py_REFCNT(PyObject* obj)
    object PyObject_GenericGetDict(object obj, void* context)
    int PyObject_GenericSetDict(object obj, object value, void* context) except -1


class _Marker:
    __slots__ = ("text",)

    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return self.text


ANY = _Marker("<any value>")
ABSENT = _Marker("<absent>")


def snapshot(mapping):
    """The entries of an exact dictionary as one flat tuple: key, value, key, …"""
    cdef list flat = []
    for key, value in mapping.items():
        flat.append(key)
        flat.append(value)
    return tuple(flat)


cdef class Guard:
    """What one plan rests on.

    :param schema_type: the schema class.
    :param schema_names: names whose presence in the schema's instance dictionary would
        change the plan, each with the value it was built from, or ``ABSENT``.
    :param members: the mapping of field names to fields (a ``dict`` or ``OrderedDict``).
    :param types: every type the plan asked something of.
    :param fields: every field the plan speaks for, inner ones too.
    :param lists: pairs of a list and its items as a tuple.
    :param entries: triples of a dictionary, a key and the expected value or ``ABSENT``.
    :raises Unwatchable: where CPython gives a type no version tag any more.
    """

    def __cinit__(
        self, schema, schema_type, tuple schema_names, members, tuple types,
        tuple fields, tuple lists, tuple entries,
    ):
        cdef Py_ssize_t i
        self.schema_type = schema_type
        self.schema_names = schema_names
        self.members = members
        self.members_plain = type(members) is dict
        self.members_snapshot = snapshot(members)
        self.types = (schema_type, *types)
        self.lists = lists
        self.entries = entries
        watched = []
        for field in fields:
            state = <object>althaia_instance_dict(field)
            watched.append((field, type(field), snapshot(state)))
        self.fields = tuple(watched)
        self.tags = <unsigned int*>PyMem_Malloc(sizeof(unsigned int) * len(self.types))
        if self.tags is NULL:
            raise MemoryError
        for i in range(len(self.types)):
            self.tags[i] = althaia_type_tag(self.types[i])

    def __dealloc__(self):
        PyMem_Free(self.tags)

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
        cdef void* found
        if type(schema) is not self.schema_type:
            return False
        size = len(self.types)
        for i in range(size):
            if ALTHAIA_VERSION_TAG(self.types[i]) != self.tags[i]:
                return False
        size = len(self.schema_names)
        for i in range(size):
            entry = <tuple>self.schema_names[i]
            if not althaia_same_entry(state, entry[0], entry[1], ABSENT_):
                return False
        if self.members_plain:
            if not althaia_same_entries(self.members, self.members_snapshot, ANY):
                return False
        elif not self._same_members():
            return False
        size = len(self.fields)
        for i in range(size):
            entry = <tuple>self.fields[i]
            if type(entry[0]) is not entry[1]:
                return False
            found = althaia_instance_dict(entry[0])
            if found is NULL or not althaia_same_entries(<object>found, <tuple>entry[2], ANY):
                return False
        size = len(self.lists)
        for i in range(size):
            entry = <tuple>self.lists[i]
            if not althaia_same_items(<list>entry[0], <tuple>entry[1]):
                return False
        size = len(self.entries)
        for i in range(size):
            entry = <tuple>self.entries[i]
            if not althaia_same_entry(entry[0], entry[1], entry[2], ABSENT_):
                return False
        return True

    cdef bint _same_members(self):
        cdef tuple now = snapshot(self.members)
        cdef Py_ssize_t i, size = len(now)
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
        from copy import deepcopy

        plain = {}
        memo[id(self)] = plain
        for key, value in self.items():
            plain[deepcopy(key, memo)] = deepcopy(value, memo)
        return plain

    def clear_plans(self):
        """Forget the plans."""
        self.dump_plan = None
        self.load_plan = None


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
    PyObject_GenericSetDict(schema, replacement, NULL)
    return replacement
