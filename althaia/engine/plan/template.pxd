"""Templates: dictionaries that are created with all their keys."""


cdef extern from "althaia/cpython/templates.h":
    # The key is a borrowed reference.
    int althaia_put(dict mapping, Py_ssize_t n, void* key, object value) except -1

cdef enum:
    # After how many results a plan's template is filled.
    FILLED_AFTER = 100


cdef class Template:
    cdef readonly dict mapping
    cdef readonly bint full
    # The most keys of a dictionary that grew key by key and is smaller than a copy of the template;
    # -1 if there is none.
    cdef Py_ssize_t smaller
    # The keys, until the mapping is filled; and the number of results until then.
    cdef tuple keys
    cdef int wait
    cdef bint fills(self) except -1
    cdef int fill(self) except -1
    cdef dict start(self, bint full)
    cdef dict trimmed(self, dict result)
