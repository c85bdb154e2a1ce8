"""Declarations of :file:`json.pyx`."""

from althaia.sinks.encoder cimport Encoder
from althaia.sinks.sink cimport Record


cdef class JSONRecord(Record):
    cdef bytes text
    cdef Py_ssize_t* ends
    # The indexes of the keys in the order of the text; NULL where it is the order of the keys.
    cdef Py_ssize_t* order
    cdef Py_ssize_t separator
    cdef bint beyond_ascii


cdef struct Fragment:
    Py_ssize_t index
    Py_ssize_t start
    Py_ssize_t holes


cdef class JSONSink(Encoder):
    cdef Fragment* fragments
    cdef Py_ssize_t fragment_count, fragment_room
    cdef bint as_bytes
    cdef int begin_fragment(self, Py_ssize_t index) except -1
    cdef int sort_fragments(self, JSONRecord record) except -1


cdef JSONSink open_json(dict options)
