from althaia.plans.guards cimport Guard
from althaia.plans.state cimport InstanceDict


cdef class Model:
    # The copy; None until there is one.
    cdef object schema
    cdef object schema_class
    cdef Guard guard
    cdef int uses


cdef object model_of(object schema, InstanceDict state, int direction, bint first)
