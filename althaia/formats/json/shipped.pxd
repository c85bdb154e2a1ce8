cdef bint json_is_as_shipped() except -1
cdef object the_constants()
