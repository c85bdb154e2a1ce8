"""Declarations of :file:`json_writer.pyx`."""

from althaia.formats.json.encoder cimport Encoder
from althaia.formats.json.style cimport JSONRecord


cdef struct Fragment:
    Py_ssize_t index
    Py_ssize_t start
    Py_ssize_t deferred


cdef class JSONSink(Encoder):
    cdef Fragment* fragments
    cdef Py_ssize_t fragment_count, fragment_room
    cdef int begin_fragment(self, Py_ssize_t index) except -1
    cdef int sort_fragments(self, JSONRecord record) except -1


cdef JSONSink open_json(dict options)
