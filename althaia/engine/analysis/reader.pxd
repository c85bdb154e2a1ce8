"""What analyses share, declared for the makers of steps."""

from althaia.engine.plan.guard cimport Guard
from althaia.engine.upstream cimport Upstream


cdef class Analysis:
    cdef readonly Upstream upstream
    cdef readonly object schema
    cdef readonly object members
    cdef readonly object state
    cdef readonly int slots
    cdef readonly dict shared
    cdef tuple _members
    cdef Guard _sibling
    cdef list _outer, _lists
    cdef dict _types, _fields, _unwatched, _entries, _schema_names
    # The helpers of upstream's that are watched, a bit for each.
    cdef object _helpers
    cdef set _readable, _looked_at
    cpdef watch_type(self, cls)
    cpdef watch_field(self, field)
    cpdef dict state_of(self, field)
    cpdef bint is_data_descriptor(self, raw) except -1
    cpdef bint schema_method_is_upstreams(self, name) except -1
    cpdef field_value(self, field, name)
    cpdef field_method(self, field, name, owner)
    cpdef check_readable(self, field)
    cdef int _watch_helper(self, str module, str name) except -1
