from althaia.engine.plan.guard cimport Guard
from althaia.engine.plan.instance_dict cimport InstanceDict


cdef class CopyBlueprint:
    cdef Guard guard
    # The number of copies that upstream still makes before the instance is examined.
    cdef int wait
    # How often the instance was examined.
    cdef int examined
    # The instance's attributes when it was examined.
    cdef dict attributes
    # Those of them that a lazy copy gets at once.
    cdef dict kept
    # The snapshot of the attributes.
    cdef tuple keys, values
    # Pairs of an option that is a collection, and the set of its names.
    cdef tuple contents
    # The prototypes by the options of the nested field that select fields.
    cdef dict prototypes
    cdef bint hold(self, object nested, InstanceDict state) except -1


cdef object lazy_copy(object nested, object field)
cdef int record_copy(object nested, object field, object copied) except -1
