from althaia.plans.guards cimport Guard, InstanceDict


cdef class Variant:
    """What all instances of one schema class with the same options have in common."""
    cdef readonly object prototype
    cdef readonly Shelf shelf


cdef class Shelf:
    """What one schema class keeps for its instances."""
    cdef readonly object schema_class
    cdef readonly Guard guard
    cdef readonly str reason
    cdef readonly dict declared
    cdef readonly object opts
    cdef readonly dict variants
    cdef dict uses
    cdef Py_ssize_t made
    cdef Py_ssize_t looked_into
    cdef bint is_worth_while(self)
    cdef bint holds(self, object schema)


cdef object prototype_of(object schema, InstanceDict state)
cdef bint is_light(object schema)
cdef object nested_field(object field, object parent)
cdef object nested_schema(object field)
cdef object plucked_key(object field, object schema)
