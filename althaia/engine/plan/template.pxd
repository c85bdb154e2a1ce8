"""Templates: dictionaries that are created with all their keys."""


cdef extern from "althaia/cpython/templates.h":
    # The key is a borrowed reference.
    int althaia_put(dict mapping, Py_ssize_t n, void* key, object value) except -1


cdef class Template:
    cdef readonly dict mapping
    cdef readonly bint full
    # A dictionary that grew to so many keys is smaller than a copy of the template; -1: none is.
    cdef Py_ssize_t smaller
    cdef dict start(self)
    cdef dict trimmed(self, dict result)
