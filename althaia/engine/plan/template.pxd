"""Templates: dictionaries that are created with all their keys."""


cdef extern from "althaia/cpython/templates.h":
    # The key is a borrowed reference.
    int althaia_put(dict mapping, Py_ssize_t n, void* key, object value) except -1


cdef class Template:
    cdef readonly dict mapping
    cdef readonly bint full
    cdef dict start(self)
