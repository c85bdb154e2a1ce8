cdef bint is_untouched() except -1
cdef object the_constants()
