cdef object nested_field(object field, object parent)
cdef object nested_schema(object field)
cdef object plucked_key(object field, object schema)
