cdef int left_step(object name) except -1
cdef int left_item(Py_ssize_t index) except -1
cdef int left_key(object key) except -1
cdef int left_hook(object name) except -1
