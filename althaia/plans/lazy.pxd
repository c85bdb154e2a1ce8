from althaia.plans.state cimport InstanceDict


cdef object prototype_of(object schema, InstanceDict state)
cdef object prototype_to_plan(object schema, InstanceDict state)
cdef object real_field(object field, object parent)
cdef int materialise(object schema, InstanceDict state) except -1
cdef bint is_lazy(object schema)
