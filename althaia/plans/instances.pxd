from althaia.plans.guards cimport Guard, InstanceDict


cdef class Variant:
    """What all instances of one schema class with the same options have in common."""
    cdef readonly object prototype
    cdef readonly Shelf shelf
    # Its nested fields are left to their own code, which would keep a schema in them.
    cdef bint spoiled


cdef class Shelf:
    """What one schema class keeps for its instances."""
    cdef readonly object schema_class
    cdef readonly Guard guard
    cdef readonly str reason
    cdef readonly dict declared
    cdef readonly object opts
    cdef readonly dict variants
    cdef dict uses
    # Upstream copies the innermost fields once more where it copies an instance.
    cdef bint copies_bind_anew
    cdef bint holds(self, object schema)


cdef object prototype_of(object schema, InstanceDict state)
cdef object prototype_to_plan(object schema, InstanceDict state)
cdef int give_up(object schema, InstanceDict state) except -1
cdef bint is_light(object schema)
cdef object nested_field(object field, object parent)
cdef object nested_schema(object field)
cdef object own_field(object field, object parent)
cdef object plucked_key(object field, object schema)
