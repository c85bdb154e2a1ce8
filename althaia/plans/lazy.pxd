from althaia.plans.state cimport InstanceDict


cdef object prototype_of(object schema, InstanceDict state)
cdef object prototype_to_plan(object schema, InstanceDict state)
cdef int add_messages(dict messages, object classes) except -1
cdef object field_of_call(list children, Py_ssize_t site, object field, object parent)
cdef object real_field(object field, object parent)
cdef int materialise(object schema, InstanceDict state) except -1
cdef bint is_lazy(object schema)
