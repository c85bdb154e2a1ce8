"""What analyses share, declared for the makers of steps."""

from althaia.engine.plan.guard cimport Guard
from althaia.engine.upstream cimport Helper, Upstream

cdef enum:
    # Checks that a class passes once for each of its versions; see `Upstream.passed`.
    READABLE = 1
    COPIED_AS_OBJECT = 2
    KEPT_IN_DICT = 4
    # As the class of a lazy instance's field, and of a model's.
    BOUND_BY_UPSTREAM = 8
    COPIED_BY_UPSTREAM = 16
    # Of a class of upstream's: nothing in it has been replaced.
    AS_DEFINED = 32


cdef class Analysis:
    cdef readonly Upstream upstream
    cdef readonly object schema
    cdef readonly object members
    cdef readonly object state
    cdef readonly int slots
    cdef readonly dict shared
    cdef tuple _members
    # Whether user code gets neither the schema nor its fields.
    cdef bint _hidden
    cdef Guard _sibling
    cdef list _outer, _lists
    cdef dict _types, _fields, _unwatched, _entries, _schema_names
    # The helpers of upstream's that are watched, a bit for each.
    cdef object _helpers
    # The class that was watched last; the field that was asked for last, and its attributes.
    cdef object _last_type, _last_field
    cdef dict _last_state
    cpdef watch_type(self, cls)
    cpdef watch_field(self, field)
    cpdef dict state_of(self, field)
    cpdef bint is_data_descriptor(self, raw) except -1
    cpdef bint schema_method_is_upstreams(self, name) except -1
    cpdef field_value(self, field, name)
    cpdef field_method(self, field, name, owner)
    cpdef watch_list(self, items)
    cpdef watch_entry(self, mapping, key)
    cpdef schema_value(self, name)
    cpdef field_flag(self, field, name)
    cpdef class_method(self, cls, name)
    cpdef check_readable(self, field)
    cdef int watch_group(self, tuple group) except -1
    cdef tuple _snapshot(self, object field, object cls, dict state)
    cdef bint _is_bound_field(self, object cls, dict state) except -1
    cdef bint _holds_fields(self, dict state) except -1
    cdef int _check_helper(self, Helper helper) except -1
