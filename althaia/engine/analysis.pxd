"""What other floors may use of this one."""

from althaia.engine.plan cimport Guard, Upstream


cdef enum:
    # Checks that a class passes once for each of its type versions; see `Upstream.passed`.
    # Reading a field's attributes runs no code of its class.
    READABLE = 1
    # copy.copy() copies a field by its class and its instance dictionary.
    COPIED_AS_OBJECT = 2
    # Upstream's code copies and binds the field; needed for a lazy instance.
    BOUND_BY_UPSTREAM = 8
    # No class of the user's overrides a method that upstream's conversion calls.
    UPSTREAMS_METHODS = 16
    # Nothing in this class of upstream's has been replaced.
    AS_DEFINED = 32


cdef class Analysis:
    cdef readonly Upstream upstream
    cdef readonly object schema
    cdef readonly object members
    cdef readonly object state
    cdef readonly int slots
    cdef tuple _members
    # Whether user code gets neither the schema nor its fields.
    cdef bint _hidden
    cdef Guard _sibling
    cdef list _outer, _lists
    cdef dict _types, _fields, _entries, _schema_names
    # The watched groups of names in upstream's modules.
    cdef set _groups
    # The class that was watched last; the last argument of state_of(), and its attributes.
    cdef object _last_type, _last_field
    cdef dict _last_state
    # The steps of the fields that ``Inferred`` ones make, once one is there.
    cdef public dict inferred
    cpdef watch_type(self, cls)
    cpdef watch_field(self, field)
    cpdef dict state_of(self, field)
    cpdef bint schema_method_is_upstreams(self, name)
    cdef _plain_value(self, cls, state, name)
    cpdef field_value(self, field, name)
    cpdef field_method(self, field, name, owner)
    cpdef watch_list(self, items)
    cpdef watch_entry(self, mapping, key)
    cpdef schema_value(self, name)
    cpdef typed_value(self, field, name, type_, bint optional=*)
    cpdef check_method(self, cls, name, owner)
    cpdef class_method(self, cls, name)
    cpdef check_readable(self, field)
    cpdef check_reading(self, cls)
    cdef int watch_group(self, tuple group)
    cdef bint _is_bound_field(self, cls, dict state)


cdef bint is_data_descriptor(raw) noexcept
cdef bint copies_simply(Upstream upstream, declared, deepcopy)
