"""The instance dictionary in which a schema keeps its plans."""

cdef extern from "Python.h":
    object PyType_GenericAlloc(PyTypeObject* cls, Py_ssize_t items)

cdef extern from "althaia/cpython/layout.h":
    ctypedef object (*allocator)(object cls, Py_ssize_t items)
    void althaia_allocate_by(object cls, allocator allocate)
    PyObject* althaia_dict_there(object obj)
    int althaia_put_dict(object obj, object name, object state) except -1


@cython.final
@cython.freelist(16)
@cython.no_gc_clear
cdef class Instance:
    """The state of a schema instance that is, or was, made from a prototype, or copied."""

    cdef own_fields(self):
        """Return the instance's own fields so far, or None."""
        with cython.critical_section(self):
            return self._own_fields

    cdef bint exchange_fields(self, before, own_fields):
        """Store the instance's own fields in the place of ``before``. Return False if another
        thread has stored others meanwhile."""
        with cython.critical_section(self):
            if self._own_fields is not before:
                return False
            self._own_fields = own_fields
        return True


cdef Instance new_instance(prototype, State state):
    cdef Instance instance = Instance.__new__(Instance)
    instance.prototype, instance.state = prototype, state
    return instance


cdef class InstanceDict(dict):
    """A schema's instance dictionary. The plans are C attributes of it, so that iterating over
    ``vars(schema)`` does not show them.

    Copying or pickling it gives a plain dict.
    """

    def __reduce_ex__(self, protocol):
        return dict, (), None, None, iter(self.items())

    # The lock is for free-threaded builds: another thread may drop the plan after this one has read
    # the pointer and before it has incremented the reference count.

    cdef published(self, int direction):
        """Return the plan for this direction, or None."""
        with cython.critical_section(self):
            return self.load_plan if direction == LOAD else self.dump_plan

    cdef int publish(self, int direction, plan):
        """Store the plan where other threads find it; None removes it."""
        # Release the old plan after the lock: this may free fields and run their finalizers.
        with cython.critical_section(self):
            if direction == LOAD:
                before, self.load_plan = self.load_plan, plan
            else:
                before, self.dump_plan = self.dump_plan, plan


# Pickle names the type in notes of its errors, where a schema without plans has a dict.
(<PyTypeObject*>InstanceDict).tp_name = b"dict"


def published_guard(schema, int direction):
    """Return the guard of the published plan for this direction, even if it does not hold; or
    None."""
    cdef InstanceDict state = existing_dict(schema)
    plan = None if state is None else state.published(direction)
    return None if plan is None else plan.guard


cdef InstanceDict existing_dict(schema):
    """Return the schema's dictionary if it is an :class:`InstanceDict` already, else None."""
    cdef PyObject* found = althaia_dict_there(schema)
    if found is NULL or type(<object>found) is not InstanceDict:
        return None
    return <InstanceDict>found


cdef made_dict(schema):
    """Return the schema's dictionary, of any type; make one if its attributes are inline values.

    If the GC runs while CPython 3.11 allocates that dictionary, and user code creates and replaces
    the instance's dictionary, CPython continues with freed values. Hence the GC is disabled.
    """
    cdef bint collecting = stop_collecting()
    try:
        return althaia_dict_or_none(schema)
    finally:
        collect_again(collecting)


cdef InstanceDict instance_dict(schema):
    """Return the schema's dictionary as an :class:`InstanceDict`, and replace a plain one.

    Return None if it cannot be replaced, or if there are other references to it, which would no
    longer be the schema's dictionary.

    Without the GIL it is not replaced here, because CPython does not support that while another
    thread sets attributes. :func:`adopt_instances` does it before other threads have the schema.
    """
    cdef InstanceDict replacement = existing_dict(schema)
    cdef bint collecting
    if replacement is not None or not ALTHAIA_HAS_GIL or not may_be_put(schema):
        return replacement
    collecting = stop_collecting()
    try:
        state = althaia_dict_or_none(schema)
        # One reference belongs to the schema, one to this function.
        if type(state) is not dict or Py_REFCNT(state) > 2:
            return None
        replacement = InstanceDict.__new__(InstanceDict)
        PyDict_Update(replacement, <dict>state)
        put_dict(schema, replacement)
        return replacement
    finally:
        collect_again(collecting)


cdef allocated(cls, Py_ssize_t items):
    """Allocate an instance that has an :class:`InstanceDict` from the start."""
    schema = PyType_GenericAlloc(<PyTypeObject*>cls, items)
    cdef InstanceDict state
    if may_be_put(schema):
        # Typed: an untyped argument would have to be exactly a dict.
        state = InstanceDict.__new__(InstanceDict)
        put_dict(schema, state)
    return schema


cdef int adopt_instances(cls):
    """Without the GIL, let each instance of a schema class get an :class:`InstanceDict` when it is
    allocated."""
    if not ALTHAIA_HAS_GIL:
        althaia_allocate_by(cls, allocated)


cpdef bint may_be_put(obj):
    """Return whether an object's dictionary can be replaced without running user code."""
    return althaia_has_python_dict(obj, althaia_type_lookup(type(obj), "__dict__"))


cdef int put_dict(obj, dict state):
    """Replace the instance dictionary of an object without calling a ``__setattr__``."""
    try:
        althaia_put_dict(obj, "__dict__", state)
    except AttributeError:
        # CPython could not allocate the dictionary that is to be replaced, and reports that by this
        # exception.
        raise MemoryError from None


cdef dict vars_of(obj):
    """Return an object's instance dictionary without asking its class."""
    return <dict>PyObject_GenericGetDict(obj, NULL)
