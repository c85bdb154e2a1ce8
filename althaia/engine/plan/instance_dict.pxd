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
    # For a lazy instance: the Prototype whose plans it runs.
    cdef object prototype
    # The prototype of an instance whose fields are not bound yet, while the function that replaces
    # ``Schema._init_fields`` runs.
    cdef object unbound
    # For a lazy instance that is a copy: the attributes of the original instance.
    cdef dict original
    # What lazy copies of this instance share: a ``CopyBlueprint`` of instances/nested_copy.
    cdef object copy_blueprint
    # By the id of a field of the prototype or model: that field, the instance's own field, and
    # whether the latter is as construction would have left it. Of a prototype's fields only nested
    # ones are here, because a call needs only the schema of its own field.
    cdef dict counterparts
    # The instance's own fields for the prototype's: those that user code has received, or all once
    # the instance is materialised. An ``OwnFields`` of instances/recipe.
    cdef object own_fields
    # True if user code has received one of these fields, which it may have changed. The next call
    # materialises the instance.
    cdef bint handed_out
    # True while upstream's construction builds the instance: it can hold no plans yet.
    cdef bint building
    # True if user code gets neither the instance nor the fields that are bound to it, so that no
    # guard need watch them: of a prototype, and of a model.
    cdef bint hidden
    # By direction: the number of plans dropped so far, and the number of uses to wait before the
    # next one is built.
    cdef int[2] drops, waits
    cdef object published(self, int direction)
    cdef int publish(self, int direction, object plan) except -1


cdef InstanceDict instance_dict(object schema)
cdef InstanceDict existing_dict(object schema)
cdef bint is_hidden(object schema) except -1
cdef object made_dict(object schema)
cdef int adopt_instances(object cls) except -1
cpdef bint may_be_put(object obj) except -1
cdef int put_dict(object obj, dict state) except -1


# Before CPython 3.12 each allocation may run the GC, and with it user code: finalizers and
# ``gc.callbacks``. That code must not see or change an instance that is partly initialized. From
# 3.12 on, and without the GIL, the GC runs only between bytecodes of interpreted code.

cdef inline bint stop_collecting() noexcept:
    """Disable the GC while an instance is created. Every exit must pass the result to
    :func:`collect_again`."""
    return ALTHAIA_HAS_GIL and PyGC_Disable()


cdef inline void collect_again(bint collecting) noexcept:
    """Enable the GC again if it was enabled before."""
    if collecting:
        PyGC_Enable()
