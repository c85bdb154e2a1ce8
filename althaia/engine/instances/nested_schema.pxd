from libc.stdint cimport int64_t

from althaia.engine.plan.instance_dict cimport InstanceDict


cdef object nested_field(object field, InstanceDict state)
cdef object nested_schema(object field, object parent, InstanceDict state)
cdef object plucked_key(object field, object schema)
cdef int64_t times_rebound() noexcept
