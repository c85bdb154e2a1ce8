from althaia.cpython.primitives cimport ALTHAIA_HAS_GIL

cdef extern from "Python.h":
    bint PyGC_Disable()
    bint PyGC_Enable()

cdef enum Direction:
    DUMP = 0
    LOAD = 1


cdef class InstanceDict(dict):
    cdef object dump_plan
    cdef object load_plan
    # Of an instance that is lazy: the Prototype whose plans it runs.
    cdef object prototype
    # The prototype of an instance whose fields are not bound yet: a function that was put in the
    # place of ``Schema._init_fields`` has the instance.
    cdef object unbound
    # Of a lazy instance that is a copy: the attributes of what it is a copy of.
    cdef dict original
    # Its own fields for those of the prototype that a call has reached, by their ids: the
    # prototype's, its own, and whether that is as its construction would have left it.
    cdef dict own
    # The user's code was given one of them: the next call looks at the fields themselves.
    cdef bint handed_out
    cdef bint building
    # By direction: plans dropped so far, and uses to wait for before the next is built.
    cdef int[2] drops, waits
    cdef object published(self, int direction)
    cdef int publish(self, int direction, object plan) except -1


cdef InstanceDict instance_dict(object schema)
cdef InstanceDict existing_dict(object schema)
cdef InstanceDict made_dict(object schema)
cdef int adopt_instances(object cls) except -1
cdef int adopt(object schema) except -1
cdef int put_dict(object obj, dict state) except -1


# Before CPython 3.12 each allocation may run the collector, and with it user code: finalizers,
# ``gc.callbacks``. None of it shall see, or change, an instance that is half made. Later ones, and
# those without the GIL, run the collector between two instructions of user code only.

cdef inline bint stop_collecting() noexcept:
    """Switch the collector off while an instance is made; give the result to
    :func:`collect_again` on every way out."""
    return ALTHAIA_HAS_GIL and PyGC_Disable()


cdef inline void collect_again(bint collecting) noexcept:
    """Switch the collector on again if it was."""
    if collecting:
        PyGC_Enable()
