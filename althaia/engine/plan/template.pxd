"""Dictionaries that start with all their keys in place."""


cdef extern from "althaia/cpython/templates.h":
    # The key is borrowed.
    int althaia_put(dict mapping, Py_ssize_t n, void* key, object value) except -1


cdef class Template:
    cdef readonly dict mapping
    cdef readonly bint full
    cdef dict start(self)
