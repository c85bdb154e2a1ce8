# cython: language_level=3, freethreading_compatible=True, boundscheck=False, wraparound=False
"""Where a schema keeps its plans: an instance dictionary with room for them."""

import copy

cimport cython
from cpython.dict cimport PyDict_Update
from cpython.object cimport PyObject

from althaia.cpython.primitives cimport (
    ALTHAIA_HAS_GIL,
    althaia_dict_or_none,
    althaia_has_python_dict,
    althaia_is_private,
    althaia_type_lookup,
)

cdef extern from "Python.h":
    Py_ssize_t Py_REFCNT(PyObject* obj)
    int PyObject_GenericSetAttr(object obj, object name, object value) except -1
    ctypedef struct PyTypeObject:
        pass
    object PyType_GenericAlloc(PyTypeObject* cls, Py_ssize_t items)

cdef extern from "althaia/cpython/layout.h":
    ctypedef object (*allocator)(object cls, Py_ssize_t items)
    void althaia_allocate_by(object cls, allocator allocate)


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
            plain[copy.deepcopy(key, memo)] = copy.deepcopy(value, memo)
        return plain

    # Without the GIL another thread may drop a plan between the look and the reference.

    cdef object published(self, int direction):
        """The plan for this direction, or None."""
        with cython.critical_section(self):
            return self.load_plan if direction == LOAD else self.dump_plan

    cdef int publish(self, int direction, object plan) except -1:
        """The one store that others see; None drops."""
        # Let go of behind the lock: with a plan go fields, and their finalizers may run.
        cdef object before
        with cython.critical_section(self):
            if direction == LOAD:
                before, self.load_plan = self.load_plan, plan
            else:
                before, self.dump_plan = self.dump_plan, plan
        return 0

    def clear_plans(self):
        """Forget the plans."""
        self.publish(DUMP, None)
        self.publish(LOAD, None)


def published_guard(schema, int direction):
    """The guard of the plan for this direction, whether it holds or not, or None."""
    cdef InstanceDict state = existing_dict(schema)
    cdef object plan = None if state is None else state.published(direction)
    return None if plan is None else plan.guard


cdef InstanceDict existing_dict(object schema):
    """The schema's dictionary where it is an :class:`InstanceDict` already, else None."""
    cdef object found = althaia_dict_or_none(schema)
    return <InstanceDict>found if type(found) is InstanceDict else None


cdef InstanceDict made_dict(object schema):
    """The same of an instance that is being made.

    Its attributes may lie in its inline values still. CPython 3.11 makes a dictionary of them by an
    allocation, and goes on with values that are free where code in the collector has just
    made, and replaced, the instance's dictionary.
    """
    cdef bint collecting = stop_collecting()
    try:
        return existing_dict(schema)
    finally:
        collect_again(collecting)


cdef InstanceDict instance_dict(object schema):
    """The schema's dictionary as an :class:`InstanceDict`, put in place where it is not yet
    one; None where it cannot be replaced, or somebody else holds it and would lose touch.

    Without the GIL none is put in place here: another thread may be setting attributes, and
    CPython does not bear that. :func:`adopt_instances` does it before others can have the schema.
    """
    if not ALTHAIA_HAS_GIL:
        return existing_dict(schema)
    return claimed_dict(schema)


cdef object allocated(object cls, Py_ssize_t items):
    """A new instance that has room for its plans before anybody can have it."""
    cdef object schema = PyType_GenericAlloc(<PyTypeObject*>cls, items)
    cdef InstanceDict state
    if may_be_put(schema):
        state = InstanceDict.__new__(InstanceDict)
        put_dict(schema, state)
    return schema


cdef int adopt_instances(object cls) except -1:
    """Without the GIL: give each instance of a schema class room for its plans from the start."""
    if not ALTHAIA_HAS_GIL:
        althaia_allocate_by(cls, allocated)
    return 0


cdef int adopt(object schema) except -1:
    """The same for an instance that its class made before, and that only its construction has."""
    if althaia_is_private(schema):
        claimed_dict(schema)
    return 0


cdef InstanceDict claimed_dict(object schema):
    cdef InstanceDict replacement
    cdef object state
    cdef bint collecting
    replacement = made_dict(schema)
    if replacement is not None:
        return replacement
    if not may_be_put(schema):
        return None
    collecting = stop_collecting()
    try:
        state = althaia_dict_or_none(schema)
        # One reference is the schema's, one is ours.
        if type(state) is not dict or Py_REFCNT(<PyObject*>state) > 2:
            return None
        replacement = InstanceDict.__new__(InstanceDict)
        PyDict_Update(replacement, <dict>state)
        put_dict(schema, replacement)
        return replacement
    finally:
        collect_again(collecting)


cpdef bint may_be_put(object obj) except -1:
    """Whether an object can be given another dictionary without asking code of the user's."""
    return althaia_has_python_dict(obj, althaia_type_lookup(type(obj), "__dict__"))


cdef int put_dict(object obj, dict state) except -1:
    """Make a dictionary the one of an object that has one, whatever its class says."""
    # Not PyObject_GenericSetDict: on 3.13 attributes kept inline would go on living beside it.
    try:
        PyObject_GenericSetAttr(obj, "__dict__", state)
    except AttributeError:
        # CPython has no memory for the dictionary that is to be replaced, and says there is none.
        raise MemoryError from None
    return 0
