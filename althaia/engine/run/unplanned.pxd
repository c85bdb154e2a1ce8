cdef object dump_one(object schema, object obj)
