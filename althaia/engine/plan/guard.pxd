from libc.stdint cimport uint64_t

from althaia.cpython.primitives cimport althaia_watched

cdef object ANY


cdef tuple by_mapping(tuple entries)
cdef tuple snapshot(dict mapping, tuple alike=*, tuple unwatched=*)
cpdef dict state_of(obj)


cdef class Guard:
    cdef readonly tuple types
    cdef readonly tuple fields
    cdef readonly tuple lists
    cdef readonly tuple entries
    cdef readonly tuple schema_names
    cdef object schema_type
    cdef object members
    cdef tuple members_keys, members_values
    cdef bint members_plain
    cdef uint64_t members_version, state_version
    # One for each of `types`, of the objects in `fields`, of `entries`.
    cdef unsigned int* type_tags
    cdef althaia_watched* watched
    cdef uint64_t* entry_versions
    # The epoch at which all dictionaries had their expected contents, 0 if never; and the address
    # of the schema's instance dictionary at that time.
    cdef uint64_t epoch
    cdef void* state
    cdef bint holds(self, object schema, object state)
    cdef bint watches(self, object cls) noexcept
    cdef int watch_class(self, object cls) except -1
    cdef bint _same_dictionaries(self, object state)
    cdef int _watch_dictionaries(self, object state) except -1
    cdef bint _same_names(self, object state)
    cdef bint _same_members(self)
    cdef bint _same_entries(self)
    cdef int _watch_types(self, tuple types) except -1
    cdef int _watch_fields(self, tuple fields, Guard sibling) except -1
    cdef int _watch_entries(self) except -1
