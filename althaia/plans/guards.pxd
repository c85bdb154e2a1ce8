cdef object ANY


cdef class Guard:
    cdef readonly tuple types
    cdef readonly tuple fields
    cdef readonly tuple lists
    cdef readonly tuple entries
    cdef readonly tuple schema_names
    cdef object schema_type
    cdef object members
    cdef tuple members_snapshot
    cdef bint members_plain
    cdef unsigned int* tags
    cdef bint holds(self, object schema, object state)
    cdef bint _same_members(self)


cdef class InstanceDict(dict):
    cdef object dump_plan
    cdef object load_plan
    cdef int dump_drops, dump_wait, load_drops, load_wait


cdef InstanceDict instance_dict(object schema)
