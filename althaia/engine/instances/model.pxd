from althaia.engine.plan.instance_dict cimport InstanceDict


cdef class Model:
    cdef object schema_class
    # The guard of what it rests on and the copy; None until there is one.
    cdef tuple made
    cdef int uses


cdef object model_of(object schema, InstanceDict state, int direction, bint first)
