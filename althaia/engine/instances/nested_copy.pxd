from althaia.engine.instances.blueprint cimport Prototype
from althaia.engine.plan.guard cimport Guard
from althaia.engine.plan.instance_dict cimport InstanceDict


cdef class CopyBlueprint:
    cdef Guard guard
    # How many copies upstream still makes before the instance is examined, and how often it was.
    cdef int wait
    cdef int examined
    # The instance's attributes when it was examined, and those of them that a lazy copy is given.
    cdef dict attributes
    cdef dict kept
    cdef tuple keys, values
    cdef tuple contents
    # By the options of the nested field that narrow the copy.
    cdef dict prototypes
    cdef bint hold(self, object nested, InstanceDict state) except -1


cdef object lazy_copy(object nested, object field)
cdef int record_copy(object nested, object field, object copied) except -1
